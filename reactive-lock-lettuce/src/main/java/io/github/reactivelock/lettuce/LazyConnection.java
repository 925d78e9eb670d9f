package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisRefusal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.BiConsumer;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * A connection that is opened at its first use and shared from then on. A failure to open fails the uses that waited
 * for it, and the next use tries again. Uses take effect in their order: a use that comes while earlier ones wait joins
 * the queue behind them. The queue's monitor guards all state but {@link #open}, and no foreign code runs under it.
 */
final class LazyConnection<C extends StatefulConnection<?, ?>> {

    private static final Logger log = LoggerFactory.getLogger(LazyConnection.class);

    private record Use<C>(Consumer<C> action, Consumer<Throwable> refused) {}

    // A second less than the engine gives a first connection, so that the refusal is what the caller gets to read.
    private static final Duration PASSING = Duration.ofSeconds(9);
    private static final Duration PAUSE = Duration.ofMillis(100);

    private final Supplier<? extends CompletionStage<C>> opener;
    private final Consumer<Throwable> waitedOut;
    private final Queue<Use<C>> waiting = new ArrayDeque<>();
    private boolean opening;
    private boolean replacing;
    private boolean closed;
    private volatile @Nullable C open;

    LazyConnection(Supplier<? extends CompletionStage<C>> opener) {
        this(opener, refusal -> {});
    }

    /** @param waitedOut called with each refusal that passes, after which it is opened again */
    LazyConnection(Supplier<? extends CompletionStage<C>> opener, Consumer<Throwable> waitedOut) {
        this.opener = opener;
        this.waitedOut = waitedOut;
    }

    /** Runs the action with the connection, at once if it is open. */
    void use(Consumer<C> action, Consumer<Throwable> refused) {
        C connection = open;
        if (connection == null) {
            boolean first = false;
            synchronized (waiting) {
                connection = open;
                if (connection == null && !closed) {
                    waiting.add(new Use<>(action, refused));
                    if (opening) {
                        return;
                    }
                    opening = true;
                    first = true;
                }
            }
            if (first) {
                new Attempts(this::opened).open();
                return;
            }
        }
        if (connection == null) {
            refused.accept(closedError());
        } else {
            action.accept(connection);
        }
    }

    /** Runs the action with the connection, if one was ever requested. */
    void useIfWanted(Consumer<C> action) {
        boolean wanted;
        synchronized (waiting) {
            wanted = opening || open != null;
        }
        if (wanted) {
            use(action, error -> {});
        }
    }

    /**
     * Opens another connection in the place of this one, which uses have until that is open, and which stays if that
     * cannot be opened. Does nothing if it is being replaced already, or was.
     */
    void replace(StatefulConnection<?, ?> gone, Runnable replaced) {
        synchronized (waiting) {
            if (open != gone || replacing || closed) {
                return;
            }
            replacing = true;
        }
        new Attempts((connection, error) -> {
                    boolean isReplaced;
                    synchronized (waiting) {
                        replacing = false;
                        isReplaced = connection != null && !closed;
                        if (isReplaced) {
                            open = connection;
                        }
                    }
                    if (isReplaced) {
                        discard(gone);
                        replaced.run();
                    } else if (connection != null) {
                        discard(connection);
                    }
                })
                .open();
    }

    /** False once another connection has taken its place. */
    boolean isInUse(Object connection) {
        C now = open;
        return now == null || now == connection;
    }

    /** Closes the connection if there is one, or as soon as there is. Later uses are refused. */
    CompletionStage<Void> close() {
        C connection;
        synchronized (waiting) {
            closed = true;
            connection = open;
            open = null;
        }
        return connection == null ? CompletableFuture.completedFuture(null) : connection.closeAsync();
    }

    /**
     * One opening: more than one attempt where the server refuses for now, or where a pause of this process looked like
     * silence.
     */
    private final class Attempts {

        private final BiConsumer<@Nullable C, @Nullable Throwable> end;
        private final SilenceClock silenceClock = SilenceClock.ofThisProcess();
        private final Disposable counting = silenceClock.after(PASSING, () -> {});
        private final long begun = silenceClock.now();
        private long attemptBegun;
        private long attemptCounted;

        Attempts(BiConsumer<@Nullable C, @Nullable Throwable> end) {
            this.end = end;
        }

        void open() {
            attemptBegun = System.nanoTime();
            attemptCounted = silenceClock.now();
            CompletionStage<C> opened;
            try {
                opened = DriverThreads.call(opener);
            } catch (Throwable e) { // a class that cannot be initialised, say: fails all that wait
                opened = CompletableFuture.failedFuture(e);
            }
            opened.whenComplete(this::ended);
        }

        private void ended(@Nullable C connection, @Nullable Throwable error) {
            boolean passes = error != null && RedisRefusal.of(error) == RedisRefusal.PASSES;
            if (passes) {
                waitedOut.accept(error);
            }
            if ((passes || (error != null && wasPaused())) && silenceClock.now() - begun < PASSING.toNanos()) {
                DriverThreads.timer().schedule(this::open, PAUSE.toMillis(), TimeUnit.MILLISECONDS);
                return;
            }
            counting.dispose();
            end.accept(connection, error);
        }

        /** Drivers measure their limits by the plain clock. */
        private boolean wasPaused() {
            long uncounted = System.nanoTime() - attemptBegun - (silenceClock.now() - attemptCounted);
            return uncounted > PAUSE.toNanos();
        }
    }

    private void opened(@Nullable C connection, @Nullable Throwable error) {
        if (connection == null) {
            refuseAll(error == null ? closedError() : error);
            return;
        }
        for (Use<C> use = next(connection); use != null; use = next(connection)) {
            Consumer<C> action = use.action();
            run(() -> action.accept(connection));
        }
        if (open == null) { // closed meanwhile
            discard(connection);
        }
    }

    /** Does not wait for it. */
    static void discard(StatefulConnection<?, ?> connection) {
        Mono.fromFuture(connection::closeAsync)
                .subscribe(done -> {}, failure -> log.debug("a connection did not close", failure));
    }

    /** Refuses those that waited, and not those that ask again because of it: for them it is opened anew. */
    private void refuseAll(Throwable error) {
        List<Use<C>> refused;
        synchronized (waiting) {
            refused = List.copyOf(waiting);
            waiting.clear();
            opening = false;
        }
        refused.forEach(use -> run(() -> use.refused().accept(error)));
    }

    private static void run(Runnable part) {
        try {
            part.run();
        } catch (Throwable e) { // or those behind it would wait for ever
            log.error("a use of a new connection failed; please report this", e);
        }
    }

    /** The next use to serve. When there is none, the connection becomes visible to later uses. */
    private @Nullable Use<C> next(C connection) {
        synchronized (waiting) {
            Use<C> next = waiting.poll();
            if (next == null) {
                opening = false;
                open = closed ? null : connection;
            }
            return next;
        }
    }

    private static RedisException closedError() {
        return new RedisException("the lock backend is closed");
    }
}
