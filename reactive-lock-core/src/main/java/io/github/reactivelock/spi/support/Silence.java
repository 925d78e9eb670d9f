package io.github.reactivelock.spi.support;

import java.time.Duration;
import reactor.core.publisher.Mono;

/**
 * For how long a server has answered nothing at all, by the clock of {@link SilenceClock}. A command that stands behind
 * others waits for as long as any is answered, and no longer. Safe for use from any thread.
 */
public final class Silence {

    private final SilenceClock silenceClock;
    private volatile long answeredAt;

    /** It has answered just now. */
    public Silence() {
        this(SilenceClock.ofThisProcess());
    }

    Silence(SilenceClock silenceClock) {
        this.silenceClock = silenceClock;
        this.answeredAt = silenceClock.now();
    }

    /** The server itself has answered, if perhaps by a refusal. */
    public void answered() {
        answeredAt = silenceClock.now();
    }

    /**
     * Waits until the server has answered nothing for so long. Cold.
     *
     * @param limit how long it may be silent, from the subscription on
     * @return completes on the timer
     */
    public Mono<Void> of(Duration limit) {
        return Mono.defer(() -> {
            long since = silenceClock.now();
            return Mono.defer(() -> silenceClock.silence(left(since, limit)))
                    .repeat(() -> !left(since, limit).isZero())
                    .then();
        });
    }

    private Duration left(long since, Duration limit) {
        long last = answeredAt;
        long silent = silenceClock.now() - (last - since > 0 ? last : since);
        return Duration.ofNanos(Math.max(0, limit.toNanos() - silent));
    }
}
