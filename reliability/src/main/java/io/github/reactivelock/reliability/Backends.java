package io.github.reactivelock.reliability;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.vertx.VertxLockBackend;
import io.vertx.core.Vertx;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Makes backends of all kinds. The first word of an address says which: {@code redis} is Lettuce, {@code vertx} the Redis
 * client of Vert.x. Closing it ends what its backends borrowed, so they have to be closed before.
 */
final class Backends implements AutoCloseable {

    private final Queue<Vertx> lent = new ConcurrentLinkedQueue<>();

    /** A backend that connects when it is used. */
    LockBackend connect(String address) {
        String word = address.substring(0, address.indexOf(':'));
        String rest = address.substring(word.length() + 1);
        return switch (word) {
            case "redis" -> LettuceLockBackend.connect(address);
            case "vertx" -> VertxLockBackend.connect(vertx(), rest);
            default -> throw new IllegalArgumentException("no backend is called '" + word + "', in " + address);
        };
    }

    private Vertx vertx() {
        Vertx vertx = Vertx.vertx();
        lent.add(vertx);
        return vertx;
    }

    @Override
    public void close() {
        for (Vertx vertx : lent) {
            try {
                Object unused =
                        vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw new IllegalStateException("Vert.x does not end", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        lent.clear();
    }
}
