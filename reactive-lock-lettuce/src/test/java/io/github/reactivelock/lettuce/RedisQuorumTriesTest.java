package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Three clients that try at once for a free lock, at three servers. */
class RedisQuorumTriesTest {

    private static final int ROUNDS = 300;
    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final Duration LEASE = Duration.ofSeconds(3);

    private static List<RedisServer> servers = List.of();
    private final List<LockClient> clients = new ArrayList<>();

    @BeforeAll
    static void start() {
        servers = Stream.generate(RedisServer::start).limit(3).toList();
    }

    @AfterAll
    static void stop() {
        servers.forEach(RedisServer::close);
    }

    @BeforeEach
    void connect() {
        RedisFixture.eventually(
                "all count",
                () -> servers.stream().allMatch(server -> QuorumFixture.uptime(server) > LEASE.toSeconds()));
        for (int i = 0; i < 3; i++) {
            QuorumNode[] nodes = servers.stream()
                    .map(server -> LettuceLockBackend.connect(server.uri()))
                    .toArray(QuorumNode[]::new);
            LockClient client = LockClient.builder(QuorumLockBackend.of(nodes).withLongestLease(LEASE))
                    .commandTimeout(Duration.ofMinutes(1)) // a busy machine is not what is tested
                    .options(LockOptions.defaults().withLease(LEASE))
                    .build();
            clients.add(client);
            QuorumFixture.patiently(client.withLock("warm-up", Mono.just(1)));
        }
    }

    @AfterEach
    void close() {
        clients.forEach(client -> client.close().block(LIMIT));
        servers.stream().filter(server -> !server.isRunning()).forEach(RedisServer::restart);
    }

    @Test
    void exactlyOneOfThreeGetsAFreeLock() {
        assertThat(holdersOfEachRound("all", ROUNDS)).hasSize(ROUNDS).containsOnly(1);
    }

    @Test
    void oneOfThreeGetsAFreeLockThoughOneOfThreeServersIsDead() {
        servers.get(1).kill();

        assertThat(holdersOfEachRound("dead", ROUNDS / 10)).hasSize(ROUNDS / 10).containsOnly(1);
    }

    private List<Integer> holdersOfEachRound(String prefix, int rounds) {
        List<Integer> holders = new ArrayList<>();
        for (int round = 0; round < rounds; round++) {
            String key = prefix + round;
            List<LockHandle> held = Flux.fromIterable(clients)
                    .flatMap(client -> client.tryAcquire(key))
                    .collectList()
                    .block(LIMIT);
            holders.add(held.size());
            held.forEach(handle -> handle.release().block(LIMIT));
        }
        return holders;
    }
}
