package io.github.reactivelock.spi.support;

import java.time.Duration;
import reactor.util.retry.Retry;
import reactor.util.retry.RetryBackoffSpec;

/**
 * Tries again until it succeeds, after pauses that double from the first to the longest and vary by half. What was
 * received counts as success: the next interruption begins with the first pause again.
 */
public final class EndlessRetry {

    private EndlessRetry() {}

    /**
     * For what may be interrupted at any time, a watch for example. The pauses are on {@link DriverThreads#timer()}.
     *
     * @param first pause
     * @param longest pause
     * @return to be narrowed by a filter, where an error may be final
     */
    public static RetryBackoffSpec after(Duration first, Duration longest) {
        return Retry.backoff(Long.MAX_VALUE, first)
                .maxBackoff(longest)
                .scheduler(DriverThreads.timer())
                .transientErrors(true);
    }
}
