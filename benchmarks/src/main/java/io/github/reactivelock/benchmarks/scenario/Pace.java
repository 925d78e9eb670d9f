package io.github.reactivelock.benchmarks.scenario;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * How long each part takes.
 *
 * @param warmUp each side's first turn, which does not count
 * @param turn each side's later turns
 * @param rounds how many of those
 * @param watch how long to watch background work such as renewal
 */
public record Pace(Duration warmUp, Duration turn, int rounds, Duration watch) {

    public static final Pace FULL =
            new Pace(Duration.ofMillis(2_000), Duration.ofMillis(500), 5, Duration.ofSeconds(20));
    public static final Pace QUICK =
            new Pace(Duration.ofMillis(1_000), Duration.ofMillis(200), 5, Duration.ofSeconds(20));

    /** Several processes share the processors, and each has to warm up for itself. */
    Pace forClients(int clients) {
        return clients == 1 ? this : new Pace(warmUp.multipliedBy(2), turn.multipliedBy(2), rounds, watch);
    }

    /** Other load easily disturbs a single flow, so its turns are shorter and more of them. */
    Pace forOneFlow() {
        return new Pace(warmUp, turn.dividedBy(2), 2 * rounds, watch);
    }

    /**
     * One flow asks a database so seldom that what a statement goes through would still be compiled while it is
     * measured.
     */
    Pace forOneFlowOfADatabase() {
        return new Pace(warmUp.multipliedBy(4), turn, rounds, watch);
    }

    /** Turns long enough for every one of many processes to spend a long budget, and few of them. */
    Pace forLongWaits() {
        return new Pace(warmUp.dividedBy(4), turn.multipliedBy(2), Math.min(rounds, 2), watch);
    }

    void watchNow() {
        long until = System.nanoTime() + watch.toNanos();
        for (long left = watch.toNanos(); left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
