package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.ThreadLoaders;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Test;

class OpeningTest {

    private static final ZooKeeperBackendOptions PATIENT =
            ZooKeeperBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(12));

    static final class Opener implements Function<String, LockBackend> {
        @Override
        public LockBackend apply(String servers) {
            return ZooKeeperLockBackend.connect(servers, PATIENT);
        }
    }

    @Test
    void theBackendSaysWhichStoreItIs() {
        ZooKeeperBackendOptions secret = ZooKeeperBackendOptions.defaults().withDigest("user", "secret");

        assertThat(ZooKeeperLockBackend.connect("a.example:2181,b.example:2181/app", secret))
                .hasToString("ZooKeeper at a.example:2181,b.example:2181/app, prefix reactivelock");
    }

    @Test
    void noThreadInheritsAContextClassLoader() throws Exception {
        try (TestingServer server = new TestingServer()) {
            ThreadLoaders.assertOwn(Opener.class, server.getConnectString());
        }
    }

    @Test
    void anErrorIsToldAtOnceAndTheNextOneOpensAnew() throws Exception {
        try (TestingServer server = new TestingServer()) {
            AtomicBoolean works = new AtomicBoolean();
            ClientSource source = throwing(new ClientSource.Own(server.getConnectString(), PATIENT), works);
            LockClient client = LockClient.builder(new ZooKeeperLockBackend(source, PATIENT))
                    .commandTimeout(Duration.ofMinutes(5))
                    .build();

            assertThat(ZooKeepers.error(client.acquire("k")))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasStackTraceContaining("ZooKeeper at " + server.getConnectString())
                    .hasStackTraceContaining("NoClassDefFoundError: a part of Curator")
                    .hasRootCauseInstanceOf(NoClassDefFoundError.class);
            works.set(true);
            ZooKeepers.get(ZooKeepers.get(client.acquire("k")).release());
            client.close().block(Duration.ofSeconds(60));
        }
    }

    private static ClientSource throwing(ClientSource source, AtomicBoolean works) {
        return new ClientSource() {
            @Override
            public CuratorFramework open(ConnectionStateListener listener) {
                if (!works.get()) {
                    throw new NoClassDefFoundError("a part of Curator");
                }
                return source.open(listener);
            }

            @Override
            public String servers() {
                return source.servers();
            }

            @Override
            public boolean isOurs() {
                return source.isOurs();
            }
        };
    }
}
