package io.github.reactivelock.benchmarks;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/**
 * How long everything takes.
 *
 * @param warmUp each side's first turn, which counts for nothing
 * @param turn each side's later turns
 * @param rounds how many of those
 * @param watch how long what goes on by itself, such as renewal, is watched
 */
record Pace(Duration warmUp, Duration turn, int rounds, Duration watch) {

    static final Pace FULL = new Pace(Duration.ofSeconds(6), Duration.ofSeconds(1), 7, Duration.ofSeconds(30));
    static final Pace QUICK = new Pace(Duration.ofMillis(2_400), Duration.ofMillis(500), 3, Duration.ofSeconds(20));

    void watchNow() {
        long until = System.nanoTime() + watch.toNanos();
        for (long left = watch.toNanos(); left > 0; left = until - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
