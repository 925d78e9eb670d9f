package io.github.reactivelock.memory;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;

/** A claim at the store: where to push, and until when it is believed alive or, as a holder, holds. */
final class Place {

    private static final Duration LONGEST = Duration.ofDays(36_500);

    final Claim claim;
    /** Lower ones are served first; those of equals in the order in which they came. */
    final long ticket;

    /** When the claim came, or as a holder, when it was granted. */
    long since;

    InMemoryLockBackend from;
    long until;
    long token;

    Place(Claim claim, long ticket, InMemoryLockBackend from, long now) {
        this.claim = claim;
        this.ticket = ticket;
        this.from = from;
        this.since = now;
        this.until = now;
    }

    boolean isOver(long now) {
        return until - now <= 0;
    }

    void extend(long now) {
        Duration lease = claim.lease();
        until = now + (lease.compareTo(LONGEST) > 0 ? LONGEST : lease).toNanos();
    }
}
