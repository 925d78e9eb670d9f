package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.ThreadLoaders;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

class OpeningTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    static final class Opener implements Function<String, LockBackend> {
        @Override
        public LockBackend apply(String uri) {
            return VertxLockBackend.connect(usersVertx(), uri);
        }

        /** What it starts is the application's, and made as the application likes. */
        private static Vertx usersVertx() {
            ClassLoader callers = Thread.currentThread().getContextClassLoader();
            Thread.currentThread().setContextClassLoader(OpeningTest.class.getClassLoader());
            try {
                return Vertx.vertx();
            } finally {
                Thread.currentThread().setContextClassLoader(callers);
            }
        }
    }

    @Test
    void noThreadInheritsAContextClassLoader() {
        try (RedisServer server = RedisServer.start()) {
            ThreadLoaders.assertOwn(Opener.class, server.uri());
        }
    }

    @Test
    void anErrorIsToldAtOnceAndTheNextOneOpensAnew() throws Exception {
        Vertx vertx = Vertx.vertx();
        try (RedisServer server = RedisServer.start()) {
            RedisOptions options = new RedisOptions().setConnectionString(server.uri());
            AtomicBoolean works = new AtomicBoolean();
            Redis redis = throwing(Redis.createClient(vertx, options), works);
            LockClient client = LockClient.builder(VertxLockBackend.using(vertx, redis, options))
                    .commandTimeout(Duration.ofMinutes(5))
                    .build();

            assertThat(client.acquire("k")
                            .map(held -> new Throwable("no error"))
                            .onErrorResume(Mono::just)
                            .block(LIMIT))
                    .isInstanceOf(LockUnavailableException.class)
                    .hasStackTraceContaining("Redis at " + server.uri().replace("redis://", "")
                            + " refused or failed: java.lang.NoClassDefFoundError: a part of Vert.x")
                    .hasRootCauseInstanceOf(NoClassDefFoundError.class);
            works.set(true);
            client.acquire("k").flatMap(held -> held.release()).block(LIMIT);
            client.close().block(LIMIT);
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
        }
    }

    private static Redis throwing(Redis redis, AtomicBoolean works) {
        return (Redis) Proxy.newProxyInstance(
                OpeningTest.class.getClassLoader(), new Class<?>[] {Redis.class}, (proxy, method, args) -> {
                    if (method.getName().equals("connect") && !works.get()) {
                        throw new NoClassDefFoundError("a part of Vert.x");
                    }
                    try {
                        return method.invoke(redis, args);
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                });
    }
}
