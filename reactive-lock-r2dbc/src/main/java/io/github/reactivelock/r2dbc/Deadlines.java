package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;

/**
 * Notices commands that the database does not answer in time, by one verdict for all: a verdict for each would wake a
 * thread for each. A deadline only moves to later, and a new command's is later than those there are, so a verdict that
 * is set is never set too late. Its time stands still while this process gets no turn ({@link SilenceClock}). Safe for
 * use from any thread.
 *
 * <pre>
 * verdict  event
 * IDLE     a command begins to be watched -> SET for its deadline
 * SET      it comes: commands that are late are ended; if others are left -> SET for the first deadline, else IDLE
 * </pre>
 */
final class Deadlines {

    /**
     * How long the first connection and its first answer may take at least. Lock clients wait for ten seconds; the
     * reason is reported before that.
     */
    static final Duration OPENING = Duration.ofSeconds(8);

    private final long timeout;
    private final SilenceClock silenceClock;
    private final Consumer<Runnable> handOver;
    private final Set<Turn> watched = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isSet = new AtomicBoolean();
    private volatile long lentAt;
    private volatile boolean opened;
    private volatile boolean answered;

    Deadlines(Duration timeout) {
        this(timeout, SilenceClock.ofThisProcess(), end -> {
            DriverThreads.forUsers().schedule(end);
        });
    }

    /** @param handOver runs the ends of commands, which users may see */
    Deadlines(Duration timeout, SilenceClock silenceClock, Consumer<Runnable> handOver) {
        this.timeout = timeout.toNanos();
        this.silenceClock = silenceClock;
        this.handOver = handOver;
        this.lentAt = silenceClock.now();
    }

    /** A command that waits for a connection from now on. */
    Turn turn() {
        return new Turn();
    }

    /** A connection came. */
    void lent() {
        lentAt = silenceClock.now();
        opened = true;
    }

    /** The database answered a command. */
    void answered() {
        if (!answered) {
            answered = true;
        }
    }

    /** How long a connection is waited for: the first one longer than others. */
    Duration forConnection() {
        return Duration.ofNanos(opened ? timeout : Math.max(timeout, OPENING.toNanos()));
    }

    private void watch(Turn turn) {
        watched.add(turn);
        if (isSet.compareAndSet(false, true)) {
            set(turn.left());
        }
    }

    private void set(long nanos) {
        // No later than a command could be late that has its connection in this moment.
        silenceClock.after(Duration.ofNanos(Math.min(nanos, timeout)), this::look);
    }

    private void look() {
        List<Turn> late = new ArrayList<>(0);
        long first = Long.MAX_VALUE;
        for (Turn turn : watched) {
            long left = turn.left();
            if (left <= 0) {
                late.add(turn);
            } else {
                first = Math.min(first, left);
            }
        }
        if (first < Long.MAX_VALUE) {
            set(first);
        } else {
            isSet.set(false);
            watched.stream()
                    .filter(turn -> !late.contains(turn))
                    .findFirst()
                    .ifPresent(this::watch); // one came meanwhile
        }
        late.forEach(turn -> handOver.accept(turn::expire));
    }

    /**
     * One command's time: it completes when that is over. Waiting for a connection is not the database's
     * silence as long as others get one, so a command is too late so long after it had a connection, or after the last
     * one was lent.
     */
    final class Turn implements Publisher<Boolean>, Subscription {

        private final long came = silenceClock.now();
        private volatile long since = came;
        private volatile boolean begun;
        private volatile boolean over;
        private volatile boolean lent;
        private volatile long at;
        private @Nullable Subscriber<? super Boolean> command;

        /** It has a connection. */
        void begin() {
            long now = silenceClock.now();
            if (!begun) {
                since = now;
                begun = true;
            }
            lentAt = now;
            at = System.nanoTime();
            lent = true;
        }

        /** When it had its connection, by the plain clock. */
        long lentAt() {
            return at;
        }

        /** Whether its time is over. */
        boolean isLate() {
            return left() <= 0;
        }

        /** Whether it had a connection since this was asked last. */
        boolean wasLent() {
            boolean was = lent;
            lent = false;
            return was;
        }

        private long left() {
            long from = begun || lentAt - since < 0 ? since : lentAt;
            long now = silenceClock.now();
            long left = from + (begun ? timeout : forConnection().toNanos()) - now;
            // Classes of the driver are loaded for the first answer too, and a busy machine is slow at that.
            return answered ? left : Math.max(left, came + OPENING.toNanos() - now);
        }

        @Override
        public void subscribe(Subscriber<? super Boolean> subscriber) {
            command = subscriber;
            subscriber.onSubscribe(this);
            watch(this);
            if (over) {
                watched.remove(this);
            }
        }

        private void expire() {
            if (watched.remove(this) && command != null) {
                command.onComplete();
            }
        }

        @Override
        public void request(long count) {}

        @Override
        public void cancel() {
            over = true;
            watched.remove(this);
        }
    }
}
