package io.github.reactivelock.examples.flashsale;

import java.time.Duration;
import java.util.List;

/**
 * A round that is over.
 *
 * @param round which
 * @param waits of each buyer who was served; a purchase that died with its instance is not among them
 * @param ledger what was sold
 * @param took from the opening of the door to the last answer
 */
record Result(Round round, List<Duration> waits, Ledger ledger, Duration took) {

    int served() {
        return waits.size();
    }

    int acquisitions() {
        return round.isLocked() ? waits.size() : 0;
    }

    double acquisitionsPerSecond() {
        return acquisitions() / (took.toNanos() / 1e9);
    }
}
