package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.testservers.RedisAddressContract;
import io.github.reactivelock.testservers.RedisServer;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class LettuceAddressTest extends RedisAddressContract {

    /**
     * What a server has to say may come late on a busy machine; the engine waits ten seconds for a first connection.
     */
    private static String patient(String uri) {
        return uri + "?timeout=9s";
    }

    @Override
    protected LockBackend server(String uri) {
        return LettuceLockBackend.connect(patient(uri));
    }

    @Override
    protected LockBackend sentinel(int port, String name) {
        return LettuceLockBackend.connect(patient("redis-sentinel://127.0.0.1:" + port) + "#" + name);
    }

    @Override
    protected LockBackend cluster(String uri) {
        return LettuceLockBackend.connectCluster(List.of(patient(uri)));
    }

    /** A node of a quorum has to say for how long it has had its memory. */
    @Test
    void nodesOfAQuorumWithoutInfoAreToldByName() {
        List<RedisServer> servers = Stream.generate(() -> RedisServer.start("--rename-command", "INFO", ""))
                .limit(3)
                .toList();
        LockClient client = LockClient.builder(QuorumLockBackend.of(servers.stream()
                                .map(server -> LettuceLockBackend.connect(patient(server.uri())))
                                .toArray(QuorumNode[]::new))
                        .withNodeTimeout(QuorumFixture.LIMIT))
                .commandTimeout(QuorumFixture.LIMIT)
                .build();

        Throwable failure = client.withLock("k", Mono.<Throwable>just(new AssertionError("no failure")))
                .onErrorResume(Mono::just)
                .block(QuorumFixture.LIMIT);

        assertThat(failure).isInstanceOf(LockUnavailableException.class).hasMessageContaining("in a quorum INFO");
        assertThat(servers)
                .as("nodes named by %s, which two that refuse are enough for", failure.getMessage())
                .filteredOn(server -> failure.getMessage().contains("127.0.0.1:" + server.port()))
                .hasSizeGreaterThanOrEqualTo(2);
        client.close().block(QuorumFixture.LIMIT);
        servers.forEach(RedisServer::close);
    }
}
