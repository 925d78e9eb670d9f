package io.github.reactivelock.election;

import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.util.retry.Retry;

/**
 * Pauses before the tries of one flow, each twice as long as the one before, up to the longest; half of each is chance. A
 * try that lasted for longer than the longest pause begins the series anew. Used by one flow at a time.
 */
final class Backoff {

    /** More doublings than any first pause needs to reach the longest. */
    private static final int MOST_DOUBLINGS = 40;

    private final Duration first;
    private final Duration longest;
    private final Scheduler timer;
    private int failures;
    private long begun;

    Backoff(Duration first, Duration longest, Scheduler timer) {
        this.first = first;
        this.longest = longest;
        this.timer = timer;
    }

    /** A try begins. */
    void begin() {
        begun = timer.now(TimeUnit.MILLISECONDS);
    }

    /** Tries again after what the predicate accepts; all other errors pass through. */
    Retry after(Predicate<? super Throwable> isTriedAgain) {
        return Retry.from(errors ->
                errors.concatMap(error -> isTriedAgain.test(error.failure()) ? pause() : Mono.error(error.failure())));
    }

    private Mono<Long> pause() {
        if (timer.now(TimeUnit.MILLISECONDS) - begun > longest.toMillis()) {
            failures = 0;
        }
        double doubled = Math.scalb((double) first.toNanos(), Math.min(failures++, MOST_DOUBLINGS));
        double most = Math.min(doubled, (double) longest.toNanos());
        long nanos = (long) (most * ThreadLocalRandom.current().nextDouble(0.5, 1));
        return Mono.delay(Duration.ofNanos(nanos), timer);
    }
}
