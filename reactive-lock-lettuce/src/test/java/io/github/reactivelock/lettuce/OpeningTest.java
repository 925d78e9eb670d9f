package io.github.reactivelock.lettuce;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.ThreadLoaders;
import io.github.reactivelock.testservers.RedisServer;
import io.lettuce.core.ConnectionFuture;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.resource.ClientResources;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class OpeningTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    static final class Opener implements Function<String, LockBackend> {
        @Override
        public LockBackend apply(String uri) {
            return LettuceLockBackend.connect(uri);
        }
    }

    static final class PrimaryOpener implements Function<String, LockBackend> {
        @Override
        public LockBackend apply(String uri) {
            return LettuceLockBackend.connectPrimary(List.of(uri));
        }
    }

    @Test
    void noThreadInheritsAContextClassLoader() {
        try (RedisServer server = RedisServer.start()) {
            ThreadLoaders.assertOwn(Opener.class, server.uri());
        }
    }

    @Test
    void noThreadInheritsAContextClassLoaderWhereThePrimaryIsLookedFor() {
        try (RedisServer server = RedisServer.start()) {
            ThreadLoaders.assertOwn(PrimaryOpener.class, server.uri());
        }
    }

    @Test
    void anErrorIsToldAtOnceAndTheNextOneOpensAnew() {
        ClientResources resources = ClientResources.create();
        try (RedisServer server = RedisServer.start();
                Throwing throwing = new Throwing(resources)) {
            LockClient client = LockClient.builder(LettuceLockBackend.using(throwing, RedisURI.create(server.uri())))
                    .commandTimeout(Duration.ofMinutes(5))
                    .build();

            assertThat(client.acquire("k")
                            .map(held -> new Throwable("no error"))
                            .onErrorResume(Mono::just)
                            .block(LIMIT))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasStackTraceContaining("Redis at " + server.uri().replace("redis://", "")
                            + " refused or failed: java.lang.NoClassDefFoundError: a part of Lettuce")
                    .hasRootCauseInstanceOf(NoClassDefFoundError.class);
            throwing.works.set(true);
            client.acquire("k").flatMap(held -> held.release()).block(LIMIT);
            client.close().block(LIMIT);
        } finally {
            resources.shutdown().awaitUninterruptibly();
        }
    }

    private static final class Throwing extends RedisClient {
        final AtomicBoolean works = new AtomicBoolean();

        Throwing(ClientResources resources) {
            super(resources, new RedisURI());
        }

        @Override
        public <K, V> ConnectionFuture<StatefulRedisConnection<K, V>> connectAsync(
                RedisCodec<K, V> codec, RedisURI uri) {
            if (!works.get()) {
                throw new NoClassDefFoundError("a part of Lettuce");
            }
            return super.connectAsync(codec, uri);
        }
    }
}
