package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * How a lock is asked for and kept. Immutable; every {@code with…} method returns a changed copy. Three times are easily
 * confused: {@link #lease()} is how long the <em>store</em> keeps a hold without hearing from its client,
 * {@link #waitTimeout()} how long a <em>caller</em> waits to get one, {@link #maxHold()} how long the <em>work</em> may
 * take.
 */
public final class LockOptions {

    static final Duration SHORTEST = Duration.ofMillis(100);
    static final Duration LONGEST = Duration.ofDays(365);

    private static final LockOptions DEFAULTS = new LockOptions(
            Duration.ofSeconds(30), Claim.Keeping.RENEWED, Duration.ZERO, Duration.ZERO, Fairness.COHORT, "");

    private final Duration lease;
    private final Claim.Keeping keeping;
    private final Duration waitTimeout;
    private final Duration maxHold;
    private final Fairness fairness;
    private final String owner;

    private LockOptions(
            Duration lease,
            Claim.Keeping keeping,
            Duration waitTimeout,
            Duration maxHold,
            Fairness fairness,
            String owner) {
        this.lease = lease;
        this.keeping = keeping;
        this.waitTimeout = waitTimeout;
        this.maxHold = maxHold;
        this.fairness = fairness;
        this.owner = owner;
    }

    /**
     * A lease of 30 seconds that is keeping, no limit to waiting or holding, {@link Fairness#COHORT}.
     *
     * @return the defaults
     */
    public static LockOptions defaults() {
        return DEFAULTS;
    }

    /**
     * How long the store keeps a hold, or a place in its queue, after it last heard of it.
     *
     * @return the lease
     */
    public Duration lease() {
        return lease;
    }

    /**
     * Whether a hold's lease is renewed until it is released.
     *
     * @return false if the hold ends by itself when its first lease does
     */
    public boolean isRenewed() {
        return keeping == Claim.Keeping.RENEWED;
    }

    /**
     * How long a caller waits, from subscription to grant, the time a store takes to answer included.
     *
     * @return empty for no limit
     */
    public Optional<Duration> waitTimeout() {
        return optional(waitTimeout);
    }

    /**
     * How long a hold may last at all; one that lasts longer is lost.
     *
     * @return empty for no limit
     */
    public Optional<Duration> maxHold() {
        return optional(maxHold);
    }

    /**
     * Who gets the lock next.
     *
     * @return the fairness
     */
    public Fairness fairness() {
        return fairness;
    }

    /**
     * The name shown to people who inspect the lock. It decides nothing: holds are told apart by random claim ids.
     *
     * @return empty to use the client's name
     */
    public Optional<String> owner() {
        return owner.isEmpty() ? Optional.empty() : Optional.of(owner);
    }

    /**
     * Sets the lease.
     *
     * @param lease between 100 milliseconds and 365 days
     * @return a changed copy
     */
    public LockOptions withLease(Duration lease) {
        return new LockOptions(checked("lease", lease, SHORTEST), keeping, waitTimeout, maxHold, fairness, owner);
    }

    /**
     * Lets a hold end when its first lease does, unless {@link LockHandle#renew()} is called.
     *
     * @return a changed copy
     */
    public LockOptions withoutRenewal() {
        return new LockOptions(lease, Claim.Keeping.ONCE, waitTimeout, maxHold, fairness, owner);
    }

    /**
     * Renews a hold until it is released, which is the default.
     *
     * @return a changed copy
     */
    public LockOptions withRenewal() {
        return new LockOptions(lease, Claim.Keeping.RENEWED, waitTimeout, maxHold, fairness, owner);
    }

    /**
     * Limits the wait; it then ends in {@link LockTimeoutException}.
     *
     * @param waitTimeout more than zero, at most 365 days
     * @return a changed copy
     */
    public LockOptions withWaitTimeout(Duration waitTimeout) {
        Duration checked = checked("waitTimeout", waitTimeout, Duration.ofNanos(1));
        return new LockOptions(lease, keeping, checked, maxHold, fairness, owner);
    }

    /**
     * Waits without a limit, which is the default.
     *
     * @return a changed copy
     */
    public LockOptions withoutWaitTimeout() {
        return new LockOptions(lease, keeping, Duration.ZERO, maxHold, fairness, owner);
    }

    /**
     * Ends a hold that lasts longer, as a loss with {@code HELD_TOO_LONG}: a guard against work that hangs.
     *
     * @param maxHold between 100 milliseconds and 365 days
     * @return a changed copy
     */
    public LockOptions withMaxHold(Duration maxHold) {
        return new LockOptions(lease, keeping, waitTimeout, checked("maxHold", maxHold, SHORTEST), fairness, owner);
    }

    /**
     * Sets the fairness.
     *
     * @param fairness who gets the lock next
     * @return a changed copy
     */
    public LockOptions withFairness(Fairness fairness) {
        return new LockOptions(
                lease, keeping, waitTimeout, maxHold, Objects.requireNonNull(fairness, "fairness"), owner);
    }

    /**
     * Sets the name shown to people.
     *
     * @param owner not blank, at most 200 bytes of UTF-8, without control characters
     * @return a changed copy
     */
    public LockOptions withOwner(String owner) {
        return new LockOptions(lease, keeping, waitTimeout, maxHold, fairness, Validation.owner(owner));
    }

    /** What a claim with these options asks the store for. */
    Claim.Keeping keeping() {
        return keeping;
    }

    /** Whether a claim asks for what these options do. */
    boolean suit(Claim claim) {
        return lease.equals(claim.lease()) && keeping() == claim.keeping();
    }

    static Duration checked(String name, Duration value, Duration shortest) {
        Objects.requireNonNull(value, name);
        if (value.compareTo(shortest) < 0 || value.compareTo(LONGEST) > 0) {
            String least = shortest.toMillis() == 0 ? "more than zero" : "at least " + shortest.toMillis() + " ms";
            throw new IllegalArgumentException(name + " must be " + least + " and at most 365 days but is " + value
                    + "; give a Duration in that range");
        }
        return value;
    }

    private static Optional<Duration> optional(Duration value) {
        return value.isZero() ? Optional.empty() : Optional.of(value);
    }

    @Override
    public String toString() {
        return "LockOptions[lease=" + lease + ", renewed=" + isRenewed() + ", waitTimeout="
                + (waitTimeout.isZero() ? "none" : waitTimeout) + ", maxHold=" + (maxHold.isZero() ? "none" : maxHold)
                + ", fairness=" + fairness + ", owner=" + (owner.isEmpty() ? "client" : owner) + "]";
    }
}
