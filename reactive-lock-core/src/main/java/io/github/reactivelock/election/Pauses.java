package io.github.reactivelock.election;

import io.github.reactivelock.spi.support.DriverThreads;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.DoubleSupplier;
import reactor.core.scheduler.Scheduler;

/**
 * How long a candidate waits before it queues again.
 *
 * @param rest after a term
 * @param first after an error of the lock
 * @param longest after many
 * @param timer where they run
 * @param chance a number from 0 to 1 for each, so that candidates do not all come at once
 */
record Pauses(Duration rest, Duration first, Duration longest, Scheduler timer, DoubleSupplier chance) {

    /**
     * The timer of all elections. A candidate that queues calls a user's listener, so it may not run on the timer of
     * the stores.
     */
    private static final Scheduler TIMER = DriverThreads.scheduler(
            "reactive-lock-election", Runtime.getRuntime().availableProcessors());

    static Pauses usual() {
        return new Pauses(
                Duration.ofSeconds(1),
                Duration.ofMillis(100),
                Duration.ofSeconds(10),
                TIMER,
                () -> ThreadLocalRandom.current().nextDouble());
    }

    Pauses withRest(Duration other) {
        return new Pauses(other, first, longest, timer, chance);
    }

    Pauses withBackoff(Duration otherFirst, Duration otherLongest) {
        return new Pauses(rest, otherFirst, otherLongest, timer, chance);
    }

    Pauses withTimer(Scheduler other) {
        return new Pauses(rest, first, longest, other, chance);
    }

    Pauses withChance(DoubleSupplier other) {
        return new Pauses(rest, first, longest, timer, other);
    }

    Instant now() {
        return Instant.ofEpochMilli(timer.now(TimeUnit.MILLISECONDS));
    }
}
