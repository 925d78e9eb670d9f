package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.QuorumNode;
import java.time.Instant;
import java.util.List;
import java.util.function.IntBinaryOperator;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import org.jspecify.annotations.NullMarked;
import reactor.core.scheduler.Scheduler;

/** A quorum in a time of its own. */
@NullMarked
public final class SimulatedQuorum {

    /**
     * A clock of nanoseconds may begin anywhere; a wall clock is not more than 37 years from there, and not before
     * 2020.
     */
    private static final long MOST = 1L << 60;

    private static final Instant MIDDLE = Instant.parse("2057-01-01T00:00:00Z");

    private SimulatedQuorum() {}

    /**
     * Makes one.
     *
     * @param timer where its timers run
     * @param nanoClock the clock that belongs to it
     * @param chance a number between the first, included, and the second, excluded
     * @param nodes an odd number, at least three
     * @return the quorum
     */
    public static QuorumLockBackend of(
            Scheduler timer, LongSupplier nanoClock, IntBinaryOperator chance, List<QuorumNode> nodes) {
        return of(timer, nanoClock, () -> MIDDLE.plusNanos(nanoClock.getAsLong() % MOST), chance, nodes);
    }

    /**
     * Makes one with a wall clock of its own.
     *
     * @param timer where its timers run
     * @param nanoClock the clock that belongs to it
     * @param wallClock orders claims
     * @param chance a number between the first, included, and the second, excluded
     * @param nodes an odd number, at least three
     * @return the quorum
     */
    public static QuorumLockBackend of(
            Scheduler timer,
            LongSupplier nanoClock,
            Supplier<Instant> wallClock,
            IntBinaryOperator chance,
            List<QuorumNode> nodes) {
        return QuorumLockBackend.of(
                new Surroundings(timer, nanoClock, wallClock, chance), nodes.toArray(QuorumNode[]::new));
    }
}
