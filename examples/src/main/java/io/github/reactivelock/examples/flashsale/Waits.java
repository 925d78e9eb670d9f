package io.github.reactivelock.examples.flashsale;

import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;

/**
 * How long buyers waited for the lock.
 *
 * @param sorted shortest first
 */
record Waits(List<Duration> sorted) {

    static Waits of(Stream<Duration> waits) {
        return new Waits(waits.sorted().toList());
    }

    /** The wait that the given percentage of buyers did not exceed. */
    double millis(int percentage) {
        if (sorted.isEmpty()) {
            return 0;
        }
        int rank = (int) Math.ceil(sorted.size() * percentage / 100.0);
        return sorted.get(Math.max(rank, 1) - 1).toNanos() / 1e6;
    }
}
