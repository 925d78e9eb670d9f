package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.ThreadLoaders;
import io.github.reactivelock.testservers.EtcdServer;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

class OpeningTest {

    private static final EtcdBackendOptions PATIENT =
            EtcdBackendOptions.defaults().withCommandTimeout(Etcds.LIMIT);

    static final class Opener implements Function<String, LockBackend> {
        @Override
        public LockBackend apply(String uri) {
            return EtcdLockBackend.connect(Client.builder().endpoints(uri), PATIENT);
        }
    }

    @Test
    void theBackendSaysWhichStoreItIs() {
        assertThat(EtcdLockBackend.connect("http://a.example:2379", "http://b.example:2379"))
                .hasToString("etcd at a.example:2379,b.example:2379, prefix reactivelock");
    }

    @Test
    void noThreadInheritsAContextClassLoader() {
        try (EtcdServer server = EtcdServer.start()) {
            ThreadLoaders.assertOwn(Opener.class, server.uri());
        }
    }

    @Test
    void anErrorIsToldAtOnceAndTheNextOneOpensAnew() {
        try (EtcdServer server = EtcdServer.start()) {
            AtomicBoolean works = new AtomicBoolean();
            ClientSource source = ClientSource.of("nowhere", () -> {
                if (!works.get()) {
                    throw new NoClassDefFoundError("a part of jetcd");
                }
                return Client.builder().endpoints(server.uri()).build();
            });
            LockClient client = LockClient.builder(new EtcdLockBackend(source, PATIENT))
                    .commandTimeout(Duration.ofMinutes(5))
                    .build();

            assertThat(Etcds.error(client.acquire("k")))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasStackTraceContaining("nowhere")
                    .hasStackTraceContaining("NoClassDefFoundError: a part of jetcd")
                    .hasRootCauseInstanceOf(NoClassDefFoundError.class);
            works.set(true);
            Etcds.get(Etcds.get(client.acquire("k")).release());
            client.close().block(Etcds.LIMIT);
        }
    }
}
