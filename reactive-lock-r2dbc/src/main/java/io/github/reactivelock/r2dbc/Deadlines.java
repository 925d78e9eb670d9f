package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.support.DriverThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.reactivestreams.Subscriber;
import org.reactivestreams.Subscription;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/**
 * Notices commands that the database does not answer in time, by one timer for all: a timer for each would wake a thread for
 * each. A deadline only moves to later, and a new command's is later than those there are, so a timer that is set is never
 * set too late. Safe for use from any thread.
 *
 * <pre>
 * timer   event
 * IDLE    a command begins to be watched -> SET for its deadline
 * SET     it goes off: commands that are late hear of it; if others are left -> SET for the first deadline, else IDLE
 * SET     it goes off late, after a pause of this process: answers may lie unread -> SET for a moment later, once
 * </pre>
 */
final class Deadlines {

    private static final long LONGEST_MOMENT = Duration.ofMillis(250).toNanos();

    private final long timeout;
    private final Scheduler timer;
    private final LongSupplier clock;
    private final Set<Turn> watched = ConcurrentHashMap.newKeySet();
    private final AtomicBoolean isSet = new AtomicBoolean();
    private volatile long lentAt;

    Deadlines(Duration timeout) {
        this(timeout, DriverThreads.timer(), System::nanoTime);
    }

    Deadlines(Duration timeout, Scheduler timer, LongSupplier clock) {
        this.timeout = timeout.toNanos();
        this.timer = timer;
        this.clock = clock;
        this.lentAt = clock.getAsLong();
    }

    /** A command that stands in the line for connections from now on. */
    Turn turn() {
        return new Turn();
    }

    private void watch(Turn turn) {
        watched.add(turn);
        if (isSet.compareAndSet(false, true)) {
            set(turn.left());
        }
    }

    private void set(long nanos) {
        long due = clock.getAsLong() + nanos;
        Disposable unused = timer.schedule(() -> wake(due), nanos, TimeUnit.NANOSECONDS);
    }

    private void wake(long due) {
        long moment = Math.min(LONGEST_MOMENT, timeout / 8);
        if (clock.getAsLong() - due < moment / 4) { // else it may be the end of a pause, however long that was
            look();
        } else {
            Disposable unused = timer.schedule(this::look, moment, TimeUnit.NANOSECONDS);
        }
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
        late.forEach(Turn::end);
    }

    /**
     * One command's time: it completes when that is over. Standing in the line for connections is not the database's
     * silence as long as the line moves, so a command is too late so long after it had a connection, or after the last one was lent.
     */
    final class Turn implements Publisher<Boolean>, Subscription {

        private volatile long since = clock.getAsLong();
        private volatile boolean begun;
        private volatile boolean over;
        private volatile boolean lent;
        private @Nullable Subscriber<? super Boolean> command;

        /** It has a connection. */
        void begin() {
            long now = clock.getAsLong();
            if (!begun) {
                since = now;
                begun = true;
            }
            lentAt = now;
            lent = true;
        }

        /** Whether it had a connection since this was asked last. */
        boolean wasLent() {
            boolean was = lent;
            lent = false;
            return was;
        }

        private long left() {
            long from = begun || lentAt - since < 0 ? since : lentAt;
            return from + timeout - clock.getAsLong();
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

        private void end() {
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
