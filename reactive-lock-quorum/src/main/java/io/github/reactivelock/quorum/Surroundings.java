package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import java.time.Instant;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.IntBinaryOperator;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import reactor.core.scheduler.Scheduler;

/**
 * What a quorum takes from outside. A simulation gives it a time and a chance of its own.
 *
 * @param timer where its timers run
 * @param nanoClock monotonic, in nanoseconds
 * @param wallClock orders claims among those of others
 * @param chance a number between the first, included, and the second, excluded
 * @param silenceClock judge the silence of nodes, after a pause of this process too
 */
record Surroundings(
        Scheduler timer,
        LongSupplier nanoClock,
        Supplier<Instant> wallClock,
        IntBinaryOperator chance,
        SilenceClock silenceClock) {

    static final Surroundings REAL = new Surroundings(
            DriverThreads.timer(),
            System::nanoTime,
            Instant::now,
            (from, to) -> ThreadLocalRandom.current().nextInt(from, to),
            SilenceClock.ofThisProcess());

    /** With pauses by that timer and that clock. */
    Surroundings(Scheduler timer, LongSupplier nanoClock, Supplier<Instant> wallClock, IntBinaryOperator chance) {
        this(timer, nanoClock, wallClock, chance, new SilenceClock(nanoClock, timer));
    }
}
