package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.Objects;

/**
 * What was chosen of {@link LockOptions}; zero stands for none. Written only before the options exist, whose final
 * field publishes it.
 */
final class OptionValues {

    static final Duration SHORTEST = Duration.ofMillis(100);
    static final Duration LONGEST = Duration.ofDays(365);

    Duration lease = Duration.ofSeconds(30);
    Claim.Keeping keeping = Claim.Keeping.RENEWED;
    Duration waitTimeout = Duration.ZERO;
    Duration maxHold = Duration.ZERO;
    Duration minHold = Duration.ZERO;
    Duration lockDelay = Duration.ZERO;
    Fairness fairness = Fairness.COHORT;
    String owner = "";
    boolean releaseAwaited = true;
    Share share = Share.WHOLE;

    OptionValues() {}

    OptionValues(OptionValues from) {
        lease = from.lease;
        keeping = from.keeping;
        waitTimeout = from.waitTimeout;
        maxHold = from.maxHold;
        minHold = from.minHold;
        lockDelay = from.lockDelay;
        fairness = from.fairness;
        owner = from.owner;
        releaseAwaited = from.releaseAwaited;
        share = from.share;
    }

    /** Refuses a time that is out of range. */
    static Duration checked(String name, Duration value, Duration shortest) {
        Objects.requireNonNull(value, name);
        if (value.compareTo(shortest) < 0 || value.compareTo(LONGEST) > 0) {
            String least = shortest.toMillis() == 0 ? "more than zero" : "at least " + shortest.toMillis() + " ms";
            throw new IllegalArgumentException(name + " must be " + least + " and at most 365 days but is " + value
                    + "; give a Duration in that range");
        }
        return value;
    }

    /** Refuses a hold that would have to be over before it may be. */
    OptionValues checkHolds() {
        if (!maxHold.isZero() && minHold.compareTo(maxHold) > 0) {
            throw new IllegalArgumentException("minHold of " + minHold + " is longer than maxHold of " + maxHold
                    + ", which ends every hold before that; use a shorter minHold or a longer maxHold");
        }
        return this;
    }

    /** Refuses times that contradict each other, of which any may be said first. */
    void check() {
        if (keeping == Claim.Keeping.ONCE && minHold.compareTo(lease) > 0) {
            throw new IllegalArgumentException("minHold of " + minHold + " is longer than the lease of " + lease
                    + ", which ends every hold that is not renewed; use a longer lease or withRenewal()");
        }
    }

    /** The claim to ask the store for; a lock that is not renewed stays taken for the lease and then for the delay. */
    Claim claim(String key, String id, String owner, Claim.Mode mode) {
        return new Claim(key, id, owner, lease.plus(lockDelay), mode, keeping, share);
    }

    /** Whether a claim, of whose lease so much is not relied upon, asks for this. */
    boolean suit(Claim claim, Duration delay) {
        return delay.equals(lockDelay)
                && lease.plus(lockDelay).equals(claim.lease())
                && keeping == claim.keeping()
                && share.equals(claim.share());
    }

    /** Whether one claim serves both. */
    boolean suit(OptionValues other) {
        return lockDelay.equals(other.lockDelay)
                && lease.equals(other.lease)
                && keeping == other.keeping
                && share.equals(other.share);
    }

    @Override
    public String toString() {
        return "[lease=" + lease + ", renewed=" + (keeping == Claim.Keeping.RENEWED) + ", waitTimeout="
                + text(waitTimeout) + ", maxHold=" + text(maxHold) + ", minHold=" + text(minHold) + ", lockDelay="
                + text(lockDelay) + ", fairness="
                + fairness + ", releaseAwaited=" + releaseAwaited + ", owner=" + (owner.isEmpty() ? "client" : owner)
                + (share.isWhole() ? "" : ", share=" + share.text()) + "]";
    }

    private static String text(Duration value) {
        return value.isZero() ? "none" : value.toString();
    }
}
