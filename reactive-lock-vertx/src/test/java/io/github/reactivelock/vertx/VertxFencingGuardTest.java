package io.github.reactivelock.vertx;

import io.github.reactivelock.testkit.GuardContract;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Vertx;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import reactor.core.publisher.Mono;

class VertxFencingGuardTest extends GuardContract {

    private static RedisServer server;
    private static Vertx vertx;
    private static VertxLockBackend backend;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
        vertx = Vertx.vertx();
        backend = VertxLockBackend.connect(vertx, server.uri());
    }

    @AfterAll
    static void stop() {
        backend.close().block(Duration.ofSeconds(60));
        vertx.close().await();
        server.close();
    }

    @Override
    protected Mono<Void> write(String key, long fencingToken) {
        return backend.fencingGuard().write(key, fencingToken, "SET", "written").then();
    }

    @Override
    protected Mono<Void> writeShared(String key, long fencingToken) {
        return backend.fencingGuard()
                .writeShared(key, fencingToken, "SET", "written")
                .then();
    }
}
