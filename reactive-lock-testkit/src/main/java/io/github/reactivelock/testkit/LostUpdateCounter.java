package io.github.reactivelock.testkit;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.publisher.Mono;

/**
 * A counter without protection. An increment reads it and writes it a moment later, so two increments that overlap lose
 * one of the two. It also counts the overlaps.
 */
public final class LostUpdateCounter {

    private volatile long value;
    private final AtomicLong written = new AtomicLong();
    private final AtomicInteger inside = new AtomicInteger();
    private final AtomicInteger overlaps = new AtomicInteger();
    private final Duration longest;

    /** Increments take up to a fifth of a millisecond. */
    public LostUpdateCounter() {
        this(Duration.ofNanos(200_000));
    }

    /**
     * For slower increments.
     *
     * @param longest the longest time between read and write
     */
    public LostUpdateCounter(Duration longest) {
        this.longest = longest;
    }

    /**
     * Adds one. Cold; an increment that is cancelled before its write adds nothing.
     *
     * @return completes when the new value was written
     */
    public Mono<Void> increment() {
        return Mono.defer(() -> {
            Increment begun = new Increment();
            return Mono.delay(Duration.ofNanos(ThreadLocalRandom.current().nextLong(longest.toNanos() + 1)))
                    .doOnNext(tick -> begun.write())
                    .doOnCancel(begun::leave)
                    .then();
        });
    }

    /**
     * How many increments were written.
     *
     * @return what the counter would show if none had been lost
     */
    public long written() {
        return written.get();
    }

    /**
     * What the counter shows.
     *
     * @return less than {@link #written()} if updates were lost
     */
    public long value() {
        return value;
    }

    /** Throws {@link AssertionError} if increments overlapped or were lost. */
    public void verify() {
        if (overlaps.get() != 0 || value != written.get()) {
            throw new AssertionError("not mutually exclusive: " + overlaps + " overlaps, " + (written.get() - value)
                    + " of " + written + " updates lost");
        }
    }

    /** One increment. A cancel that meets the write waits for its end; otherwise it would not be a cancel. */
    private final class Increment {

        private static final int BEGUN = 0;
        private static final int WRITING = 1;
        private static final int OVER = 2;

        private final AtomicInteger state = new AtomicInteger(BEGUN);
        private final long read;

        Increment() {
            if (inside.incrementAndGet() != 1) {
                overlaps.incrementAndGet();
            }
            read = value;
        }

        void write() {
            if (state.compareAndSet(BEGUN, WRITING)) {
                value = read + 1;
                written.incrementAndGet();
                inside.decrementAndGet();
                state.set(OVER);
            }
        }

        void leave() {
            if (state.compareAndSet(BEGUN, OVER)) {
                inside.decrementAndGet();
            }
            while (state.get() == WRITING) {
                Thread.onSpinWait();
            }
        }
    }
}
