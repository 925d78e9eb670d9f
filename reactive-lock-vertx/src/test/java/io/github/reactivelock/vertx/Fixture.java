package io.github.reactivelock.vertx;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.Pause;
import io.github.reactivelock.testservers.RedisServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;

/** A server, a Vert.x, and short words for what the tests do all the time. */
final class Fixture implements AutoCloseable {

    /** Known to the compiler's checks by its name. */
    @interface CanIgnoreReturnValue {}

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    final RedisServer server;
    final Vertx vertx = Vertx.vertx();
    private final List<LockBackend> backends = new ArrayList<>();
    private final List<VertxLockClient> clients = new ArrayList<>();

    Fixture(String... config) {
        server = RedisServer.start(config);
        warmUp(vertx, server.uri());
        server.command("FLUSHALL");
    }

    /** What comes first loads hundreds of classes, for which a busy machine may take longer than a command may. */
    static void warmUp(Vertx vertx, String uri) {
        LockBackend first = VertxLockBackend.connect(vertx, uri);
        eventually(
                "the first answer",
                () -> first.signals()
                        .next()
                        .then(first.claim(claim("warm up")))
                        .map(granted -> true)
                        .onErrorReturn(false)
                        .block(PATIENCE));
        get(first.close());
    }

    LockBackend backend() {
        return keep(VertxLockBackend.connect(vertx, server.uri()));
    }

    LockBackend keep(LockBackend backend) {
        backends.add(backend);
        return backend;
    }

    VertxLockClient client() {
        return keep(VertxLockClient.create(vertx, client(VertxLockBackend.connect(vertx, server.uri()))));
    }

    /** Patient, so that a busy machine looks like nothing else than a slow one. */
    static LockClient client(LockBackend backend) {
        return LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(20))
                .build();
    }

    VertxLockClient keep(VertxLockClient client) {
        clients.add(client);
        return client;
    }

    static Claim claim(String key) {
        return claim(key, Duration.ofSeconds(30));
    }

    static Claim claim(String key, Duration lease) {
        byte[] id = new byte[16];
        new SecureRandom().nextBytes(id);
        String name = Base64.getUrlEncoder().withoutPadding().encodeToString(id);
        return new Claim(key, name, "a test", lease, Claim.Mode.QUEUE);
    }

    @CanIgnoreReturnValue
    static <T> T get(Mono<T> mono) {
        return mono.block(PATIENCE);
    }

    @CanIgnoreReturnValue
    static <T> T get(Future<T> future) {
        try {
            return future.toCompletionStage().toCompletableFuture().get(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        } catch (java.util.concurrent.ExecutionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : new IllegalStateException(e.getCause());
        } catch (InterruptedException | java.util.concurrent.TimeoutException e) {
            throw new AssertionError(e);
        }
    }

    static void eventually(String what, BooleanSupplier condition) {
        Pause.until(what, PATIENCE, condition);
    }

    /** All connections but the one that asks. */
    List<String> connections() {
        return String.valueOf(server.command("CLIENT", "LIST"))
                .lines()
                .filter(line -> !line.contains("cmd=client|list"))
                .toList();
    }

    static String stackTrace(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }

    void reset() {
        clients.forEach(client -> get(client.close()));
        clients.clear();
        backends.forEach(backend -> backend.close().block(PATIENCE));
        backends.clear();
        server.command("FLUSHALL");
    }

    @Override
    public void close() {
        reset();
        get(vertx.close());
        server.close();
    }
}
