package io.github.reactivelock.vertx;

import io.github.reactivelock.spi.support.DriverThreads;
import io.vertx.core.Future;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * One connection that opens at its first use and reconnects after interruptions, which a connection of the Vert.x
 * client does not do by itself. All code here runs on one event loop, so it needs no lock. While the Vertx is being closed, which
 * begins with all connections, it opens another one only if it is wanted, for a release say: one that is opened just before
 * the event loops end may never be closed.
 *
 * <pre>
 * state    leaves on
 * IDLE     wanted -> OPENING
 * OPENING  open -> OPEN; failure -> PAUSING while an interruption is younger than the patience, else IDLE
 * OPEN     interruption -> PAUSING, or IDLE if the Vertx is being closed
 * PAUSING  timer -> OPENING, or IDLE likewise
 * any      close -> CLOSED
 * </pre>
 */
final class Link {

    /** The user of a link; called on its event loop. */
    interface User {
        void opened(RedisConnection connection);

        /** A message arrived that is not an answer. */
        void received(Response push);

        /** The connection is gone; the link opens another one, unless the Vertx is being closed. Then who needs one wants it. */
        void interrupted();

        /** There is no connection, and the link opens none until one is wanted again. */
        void refused(Throwable error);
    }

    private enum State {
        IDLE,
        OPENING,
        OPEN,
        PAUSING,
        CLOSED
    }

    /** In milliseconds. */
    static final long LONGEST_OPENING = 5_000;

    private static final long LONGEST_CLOSING = 1_000;
    private static final long FIRST_PAUSE = 10;
    private static final long LONGEST_PAUSE = 500;
    private static final long NEVER_OPEN = 0;

    private final ContextInternal context;
    private final Supplier<Opening> opener;
    private final long patience;
    private final User user;
    private State state = State.IDLE;
    private @Nullable Opening current;
    private @Nullable RedisConnection open;
    private long interruptedAt = NEVER_OPEN;
    private long pause = FIRST_PAUSE;

    /**
     * Opens nothing yet.
     *
     * @param patience how long an interruption may last before it counts as a refusal
     */
    Link(ContextInternal context, Supplier<Opening> opener, Duration patience, User user) {
        this.context = context;
        this.opener = opener;
        this.patience = patience.toNanos();
        this.user = user;
    }

    /** Sends over a connection, which throws if it has ended; it may have before its end was listened for. */
    static Future<Response> sent(RedisConnection connection, Request request) {
        try {
            return connection.send(request);
        } catch (RuntimeException e) {
            return Future.failedFuture(e);
        }
    }

    /** The client's errors for commands that the end of the connection left without an answer. */
    static boolean isInterruption(Throwable error) {
        return error instanceof IOException
                || "CONNECTION_CLOSED".equals(error.getMessage())
                || "Connection is closed".equals(error.getMessage());
    }

    static IllegalStateException vertxClosedError() {
        return new IllegalStateException("the Vertx of the lock backend is closed");
    }

    void want() {
        if (state == State.IDLE) {
            interruptedAt = NEVER_OPEN;
            pause = FIRST_PAUSE;
            open();
        }
    }

    /** The user noticed the end before the connection did. */
    void broken(RedisConnection connection) {
        if (open == connection) {
            lost();
        }
    }

    Future<Void> close() {
        state = State.CLOSED;
        return discard().timeout(LONGEST_CLOSING, TimeUnit.MILLISECONDS).otherwiseEmpty();
    }

    private void open() {
        state = State.OPENING;
        Opening opening;
        try {
            opening = DriverThreads.call(opener);
        } catch (RuntimeException e) { // an Error too, which is its cause then
            opening = Opening.failed(e);
        }
        Opening mine = opening;
        current = mine;
        var unused = mine.connection()
                .timeout(LONGEST_OPENING, TimeUnit.MILLISECONDS)
                .onComplete((connection, error) -> here(() -> {
                    if (mine.equals(current) && connection != null) {
                        opened(mine, connection);
                    } else if (mine.equals(current)) {
                        failed(error);
                    }
                }));
    }

    private void opened(Opening mine, RedisConnection connection) {
        state = State.OPEN;
        open = connection;
        pause = FIRST_PAUSE;
        connection.handler(push -> here(() -> {
            if (mine.equals(current)) {
                user.received(push);
            }
        }));
        Runnable ended = () -> {
            if (mine.equals(current)) {
                lost();
            }
        };
        connection.endHandler(end -> here(ended));
        connection.exceptionHandler(error -> here(ended));
        user.opened(connection);
    }

    private void lost() {
        interruptedAt = System.nanoTime();
        var unused = discard();
        if (isVertxClosing()) {
            state = State.IDLE;
        } else {
            retry();
        }
        user.interrupted();
    }

    private boolean isVertxClosing() {
        return context.owner().closeFuture().isClosed();
    }

    private void failed(Throwable error) {
        var unused = discard();
        if (interruptedAt != NEVER_OPEN && System.nanoTime() - interruptedAt < patience && !isVertxClosing()) {
            retry();
        } else {
            state = State.IDLE;
            user.refused(error);
        }
    }

    private void retry() {
        state = State.PAUSING;
        // Half of it is random, so that the clients of a restarted server do not all come at once.
        long delay = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
        var unused = context.setTimer(Math.max(1, delay), timer -> {
            if (state == State.PAUSING && isVertxClosing()) {
                state = State.IDLE;
                user.interrupted();
            } else if (state == State.PAUSING) {
                open();
            }
        });
    }

    private Future<Void> discard() {
        Opening gone = current;
        RedisConnection connection = open;
        current = null;
        open = null;
        if (connection != null) {
            connection.handler(null).endHandler(null).exceptionHandler(null);
        }
        return gone == null ? context.succeededFuture() : gone.close().get();
    }

    /** A connection of the application's client may live on another event loop. */
    private void here(Runnable task) {
        context.execute(task);
    }
}
