package io.github.reactivelock.election;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Pauses before the tries of one flow, each twice as long as the one before, up to the longest; half of each is chance.
 * A try that lasted for longer than the longest pause begins the series anew. Used by one flow at a time.
 */
final class Backoff {

    /** More doublings than any first pause needs to reach the longest. */
    private static final int MOST_DOUBLINGS = 40;

    private final Pauses pauses;
    private int failures;
    private long begun;

    Backoff(Pauses pauses) {
        this.pauses = pauses;
    }

    /** A try begins. */
    void begin() {
        begun = pauses.timer().now(TimeUnit.MILLISECONDS);
    }

    /** Tries again after what the predicate accepts; all other errors pass through. */
    Retry after(Predicate<? super Throwable> isTriedAgain) {
        return Retry.from(errors ->
                errors.concatMap(error -> isTriedAgain.test(error.failure()) ? pause() : Mono.error(error.failure())));
    }

    private Mono<Long> pause() {
        if (pauses.timer().now(TimeUnit.MILLISECONDS) - begun > pauses.longest().toMillis()) {
            failures = 0;
        }
        double doubled = Math.scalb((double) pauses.first().toNanos(), Math.min(failures++, MOST_DOUBLINGS));
        double most = Math.min(doubled, (double) pauses.longest().toNanos());
        long nanos = (long) (most * (1 + pauses.chance().getAsDouble()) / 2);
        return Mono.delay(Duration.ofNanos(nanos), pauses.timer());
    }
}
