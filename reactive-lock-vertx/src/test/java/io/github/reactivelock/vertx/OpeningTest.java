package io.github.reactivelock.vertx;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testkit.ThreadLoaders;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** The client's connection throws then, and says nothing more: its end was before anybody listened for it. */
    @Test
    void aConnectionThatEndsJustWhenItIsOpenIsReplaced() throws Exception {
        Vertx vertx = Vertx.vertx();
        try (RedisServer server = RedisServer.start()) {
            RedisOptions options = new RedisOptions().setConnectionString(server.uri());
            AtomicInteger ended = new AtomicInteger();
            Redis redis = ending(Redis.createClient(vertx, options), ended);
            LockBackend backend = VertxLockBackend.using(vertx, redis, options);

            assertThat(backend.ready().thenReturn(true).block(LIMIT)).isTrue();
            assertThat(backend.signals().blockFirst(LIMIT)).isInstanceOf(Signal.Reconnected.class);

            assertThat(ended).hasValue(2);
            backend.close().block(LIMIT);
        } finally {
            vertx.close().toCompletionStage().toCompletableFuture().get(20, TimeUnit.SECONDS);
        }
    }

    /** The first connection for commands, and the first one for channels. */
    private static Redis ending(Redis redis, AtomicInteger ended) {
        return (Redis) Proxy.newProxyInstance(
                OpeningTest.class.getClassLoader(),
                new Class<?>[] {Redis.class},
                (proxy, method, args) -> method.getName().equals("connect")
                        ? redis.connect().map(connection -> ending(connection, new AtomicInteger(), ended))
                        : method.invoke(redis, args));
    }

    private static RedisConnection ending(RedisConnection connection, AtomicInteger sent, AtomicInteger ended) {
        return (RedisConnection) Proxy.newProxyInstance(
                OpeningTest.class.getClassLoader(), new Class<?>[] {RedisConnection.class}, (proxy, method, args) -> {
                    // The first after the two questions of the opening.
                    boolean isFirstUse = method.getName().equals("send") && sent.getAndIncrement() == 2;
                    String asked = isFirstUse ? String.valueOf(args[0]) : "";
                    boolean isSubscribing = asked.toLowerCase(Locale.ROOT).contains("subscribe");
                    if (isFirstUse && ended.compareAndSet(isSubscribing ? 1 : 0, isSubscribing ? 2 : 1)) {
                        throw new IllegalStateException("Connection is closed");
                    }
                    return method.invoke(connection, args);
                });
    }
}
