package io.github.reactivelock.spi.support;

import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Mono;

/**
 * Work that is tried again later: after a second, and ever more rarely while it fails, at most after a minute. One
 * attempt is waited for at a time. Safe for use from any thread.
 */
public final class LaterAttempts {

    private static final Duration PAUSE = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    private final String what;
    private final Mono<?> attempt;
    private final AtomicBoolean pausing = new AtomicBoolean();
    /** Before the next attempt. */
    private volatile Duration pause = PAUSE;

    /**
     * None is waited for yet.
     *
     * @param what what the log calls it
     * @param attempt calls {@link #later} or {@link #succeeded} for each thing that was tried
     */
    public LaterAttempts(String what, Mono<?> attempt) {
        this.what = what;
        this.attempt = attempt;
    }

    /** Something failed: there is an attempt after the pause, and the pause after that is longer. */
    public void later() {
        if (pausing.compareAndSet(false, true)) {
            Duration now = pause;
            Duration doubled = now.multipliedBy(2);
            pause = doubled.compareTo(LONGEST_PAUSE) < 0 ? doubled : LONGEST_PAUSE;
            Mono<?> next = Mono.delay(now, DriverThreads.timer()).then(Mono.defer(() -> {
                pausing.set(false);
                return attempt;
            }));
            FireAndForget.run(what, next);
        }
    }

    /** Something succeeded: the next pause is short again. */
    public void succeeded() {
        pause = PAUSE;
    }
}
