package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.Patience;
import io.github.reactivelock.redis.RedisRefusal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.SilenceClock;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.io.IOException;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * One connection that opens at its first use and reconnects after interruptions, which a connection of the Vert.x
 * client does not do by itself. All code here runs on one event loop, so it needs no lock. While the Vertx is being
 * closed, which begins with all connections, it opens another one only if it is wanted, for a release say: one that is
 * opened just before the event loops end may never be closed.
 *
 * <pre>
 * state    leaves on
 * IDLE     wanted -> OPENING
 * OPENING  open -> OPEN; failure -> PAUSING while an interruption is younger than the patience, else IDLE
 * OPEN     interruption or silence -> PAUSING, or IDLE if the Vertx is being closed
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

        /**
         * Has a message sent over another connection, and completes when it was received, or not sent; null if there is
         * none.
         */
        default @Nullable Future<?> echo() {
            return null;
        }

        /** Something has been unanswered for half a second on a connection to a cluster. */
        default void late(RedisConnection connection) {}

        /** A part of the connection to a cluster is silent; it stays until there is another one. */
        default void silent() {}

        /**
         * The connection is gone; the link opens another one, unless the Vertx is being closed. Then who needs one
         * wants it.
         */
        void interrupted();

        /** The connection could not be opened again; the link goes on trying. */
        void stillInterrupted(Throwable error);

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
    // A second less than the engine gives a first connection, so that the refusal is what the caller gets to read.
    private static final long LONGEST_PASSING = Duration.ofSeconds(9).toNanos();
    /** The patience of a user to whom no refusal is final. */
    static final Duration PATIENT = Duration.ofDays(36_500);

    private static final long FOR_EVER = PATIENT.toNanos();

    private final ContextInternal context;
    private final Opener opener;
    private final long patience;
    private final User user;
    private final SilenceClock silenceClock;
    private final Patience replacing = new Patience();
    private State state = State.IDLE;
    /** While there is no connection: how long there was none is counted without the pauses of this process. */
    private @Nullable Disposable counting;

    private @Nullable Opening current;
    private @Nullable RedisConnection open;
    private @Nullable SilenceWatch watch;
    /** The opening that is to take the place of a cluster's connection of which a part is silent. */
    private @Nullable Opening replacement;

    private boolean wasOpen;
    private long missingSince;
    private long pause = FIRST_PAUSE;

    /**
     * Opens nothing yet.
     *
     * @param patience how long an interruption may last before it counts as a refusal
     */
    Link(ContextInternal context, Opener opener, Duration patience, User user) {
        this(context, opener, patience, user, SilenceClock.ofThisProcess());
    }

    /** By another clock. */
    Link(ContextInternal context, Opener opener, Duration patience, User user, SilenceClock silenceClock) {
        this.context = context;
        this.opener = opener;
        this.patience = patience.toNanos();
        this.user = user;
        this.silenceClock = silenceClock;
    }

    /** Sends over a connection that was {@linkplain User#opened opened} and is watched from then on. */
    Future<Response> send(RedisConnection connection, Request request) {
        SilenceWatch watching = watch;
        return watching != null && watching.isOf(connection)
                ? watching.send(request)
                : Future.failedFuture(new IOException("the connection has ended"));
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
            become(State.OPENING);
            wasOpen = false;
            missingSince = silenceClock.now();
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
        become(State.CLOSED);
        return discard().timeout(LONGEST_CLOSING, TimeUnit.MILLISECONDS).otherwiseEmpty();
    }

    /** In the name of no flow, and so is what follows from it for as long as the connection lasts. */
    private void open() {
        become(State.OPENING);
        FireAndForget.run("opening a connection", Mono.fromRunnable(() -> here(this::openNow)));
    }

    private void openNow() {
        if (state != State.OPENING || current != null) { // closed meanwhile
            return;
        }
        Opening mine = begin();
        current = mine;
        await(mine, (connection, error) -> {
            if (mine.equals(current) && connection != null) {
                opened(mine, connection);
            } else if (mine.equals(current)) {
                failed(error);
            }
        });
    }

    private Opening begin() {
        try {
            return DriverThreads.call(opener.next());
        } catch (RuntimeException e) { // an Error too, which is its cause then
            return Opening.failed(e);
        }
    }

    /** A pause of this process does not count as the server's silence. */
    private void await(Opening opening, BiConsumer<@Nullable RedisConnection, @Nullable Throwable> outcome) {
        Promise<RedisConnection> first = Promise.promise();
        Disposable limit = silenceClock.after(
                Duration.ofMillis(LONGEST_OPENING),
                () -> first.tryFail(
                        new TimeoutException("no connection within " + LONGEST_OPENING + " ms, and no word why")));
        opening.connection().onComplete((connection, error) -> {
            limit.dispose();
            if (error == null) {
                first.tryComplete(connection);
            } else {
                first.tryFail(error);
            }
        });
        first.future().onComplete((connection, error) -> here(() -> outcome.accept(connection, error)));
    }

    private void beat(SilenceWatch watching) {
        if (!watching.equals(watch)) {
            return;
        }
        boolean silent = watching.isSilent();
        RedisConnection connection = open;
        if (connection != null && opener.isCluster() && (silent || watching.isLate())) {
            user.late(connection);
        }
        if (silent) {
            if (opener.isCluster()) {
                user.silent();
                replace();
            } else {
                watching.spoil();
                lost();
                return;
            }
        }
        context.setTimer(SilenceWatch.BEAT_MILLIS, timer -> beat(watching));
    }

    private static void discard(Opening opening) {
        var unused = opening.close().get();
    }

    /**
     * Opens another connection to the cluster before this one is left, because most servers may answer on this one, and
     * one that is down keeps the other from being opened.
     */
    private void replace() {
        if (replacement != null || !replacing.isOver(System.nanoTime())) {
            return;
        }
        Opening next = begin();
        replacement = next;
        await(next, (connection, error) -> {
            if (!next.equals(replacement)) {
                discard(next);
                return;
            }
            replacement = null;
            if (connection == null) {
                discard(next);
                return;
            }
            discard();
            current = next;
            user.interrupted();
            opened(next, connection);
        });
    }

    private void opened(Opening mine, RedisConnection connection) {
        become(State.OPEN);
        open = connection;
        pause = FIRST_PAUSE;
        SilenceWatch watching = new SilenceWatch(connection, opener.isCluster(), user::echo);
        watch = watching;
        connection.handler(push -> here(() -> {
            if (mine.equals(current)) {
                watching.heard();
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
        context.setTimer(SilenceWatch.BEAT_MILLIS, timer -> beat(watching));
        user.opened(connection);
    }

    private void lost() {
        wasOpen = true;
        discard();
        if (isVertxClosing()) {
            become(State.IDLE);
        } else {
            become(State.PAUSING);
            missingSince = silenceClock.now();
            retry();
        }
        user.interrupted();
    }

    private boolean isVertxClosing() {
        return context.owner().closeFuture().isClosed();
    }

    private void failed(Throwable error) {
        discard();
        boolean mayPass = RedisRefusal.of(error) != RedisRefusal.LASTS || patience == FOR_EVER;
        if (mayPass && isWaitedFor(error) && !isVertxClosing()) {
            user.stillInterrupted(error);
            retry();
        } else {
            become(State.IDLE);
            user.refused(error);
        }
    }

    /**
     * An interruption is waited out for so long, and a first connection only where the server says that it will soon be
     * had.
     */
    private boolean isWaitedFor(Throwable error) {
        long missing = silenceClock.now() - missingSince;
        return wasOpen
                ? missing < patience
                : RedisRefusal.of(error) == RedisRefusal.PASSES && missing < LONGEST_PASSING;
    }

    private void become(State next) {
        boolean missing = next == State.OPENING || next == State.PAUSING;
        Disposable counted = counting;
        if (missing && counted == null) {
            counting = silenceClock.count();
        } else if (!missing && counted != null) {
            counted.dispose();
            counting = null;
        }
        state = next;
    }

    private void retry() {
        become(State.PAUSING);
        // Half of it is random, so that the clients of a restarted server do not all come at once.
        long delay = pause / 2 + ThreadLocalRandom.current().nextLong(pause / 2 + 1);
        pause = Math.min(2 * pause, LONGEST_PAUSE);
        context.setTimer(Math.max(1, delay), timer -> {
            if (state == State.PAUSING && isVertxClosing()) {
                become(State.IDLE);
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
        watch = null;
        replacement = null; // what is under way is closed when it is there
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
