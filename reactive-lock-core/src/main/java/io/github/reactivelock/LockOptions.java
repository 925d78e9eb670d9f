package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * How a lock is asked for and kept. Immutable; every {@code with…} method returns a changed copy. Three times are easily
 * confused: {@link #lease()} is how long the <em>store</em> keeps a hold without hearing from its client,
 * {@link #waitTimeout()} how long a <em>caller</em> waits to get one, {@link #maxHold()} how long the <em>work</em> may
 * take.
 */
public final class LockOptions {

    static final Duration SHORTEST = Duration.ofMillis(100);
    static final Duration LONGEST = Duration.ofDays(365);

    private static final LockOptions DEFAULTS = new LockOptions(new Values());

    private final Values values;

    private LockOptions(Values values) {
        this.values = values;
    }

    /**
     * A lease of 30 seconds that is renewed, no limit to waiting or holding, {@link Fairness#COHORT}.
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
        return values.lease;
    }

    /**
     * Whether a hold's lease is renewed until it is released.
     *
     * @return false if the hold ends by itself when its first lease does
     */
    public boolean isRenewed() {
        return values.keeping == Claim.Keeping.RENEWED;
    }

    /**
     * How long a caller waits, from subscription to grant, the time a store takes to answer included.
     *
     * @return empty for no limit
     */
    public Optional<Duration> waitTimeout() {
        return optional(values.waitTimeout);
    }

    /**
     * How long a hold may last at all; one that lasts longer is lost.
     *
     * @return empty for no limit
     */
    public Optional<Duration> maxHold() {
        return optional(values.maxHold);
    }

    /**
     * Who gets the lock next.
     *
     * @return the fairness
     */
    public Fairness fairness() {
        return values.fairness;
    }

    /**
     * The name shown to people who inspect the lock. It decides nothing: holds are told apart by random claim ids.
     *
     * @return empty to use the client's name
     */
    public Optional<String> owner() {
        return values.owner.isEmpty() ? Optional.empty() : Optional.of(values.owner);
    }

    /**
     * Whether the outcome of a {@code withLock} waits for the store's answer to the release.
     *
     * @return false if it goes on as soon as the release is on its way
     */
    public boolean isReleaseAwaited() {
        return values.releaseAwaited;
    }

    /**
     * How much of a lock is asked for.
     *
     * @return the whole, but for the options of {@link LockClient#shared} and {@link LockClient#permits}
     */
    public Share share() {
        return values.share;
    }

    /**
     * Sets the lease.
     *
     * @param lease between 100 milliseconds and 365 days
     * @return a changed copy
     */
    public LockOptions withLease(Duration lease) {
        Duration checked = checked("lease", lease, SHORTEST);
        return with(changed -> changed.lease = checked);
    }

    /**
     * Lets a hold end when its first lease does, unless {@link LockHandle#renew()} is called.
     *
     * @return a changed copy
     */
    public LockOptions withoutRenewal() {
        return with(changed -> changed.keeping = Claim.Keeping.ONCE);
    }

    /**
     * Renews a hold until it is released, which is the default.
     *
     * @return a changed copy
     */
    public LockOptions withRenewal() {
        return with(changed -> changed.keeping = Claim.Keeping.RENEWED);
    }

    /**
     * Limits the wait; it then ends in {@link LockTimeoutException}.
     *
     * @param waitTimeout more than zero, at most 365 days
     * @return a changed copy
     */
    public LockOptions withWaitTimeout(Duration waitTimeout) {
        Duration checked = checked("waitTimeout", waitTimeout, Duration.ofNanos(1));
        return with(changed -> changed.waitTimeout = checked);
    }

    /**
     * Waits without a limit, which is the default.
     *
     * @return a changed copy
     */
    public LockOptions withoutWaitTimeout() {
        return with(changed -> changed.waitTimeout = Duration.ZERO);
    }

    /**
     * Ends a hold that lasts longer, as a loss with {@code HELD_TOO_LONG}: a guard against work that hangs.
     *
     * @param maxHold between 100 milliseconds and 365 days
     * @return a changed copy
     */
    public LockOptions withMaxHold(Duration maxHold) {
        Duration checked = checked("maxHold", maxHold, SHORTEST);
        return with(changed -> changed.maxHold = checked);
    }

    /**
     * Lets the outcome of a {@code withLock} go on as soon as the release is on its way, which saves a round trip. It is
     * emitted where the work ended. A later claim of this client reaches the store behind the release; others may find the
     * lock held for a moment. A release that fails is told to the log and the {@link LockListener} and tried again, as it is
     * without this. A handle of {@code acquire} is released as ever.
     *
     * @return a changed copy
     */
    public LockOptions withReleaseInBackground() {
        return with(changed -> changed.releaseAwaited = false);
    }

    /**
     * Lets the outcome of a {@code withLock} wait for the store's answer to the release, which is the default.
     *
     * @return a changed copy
     */
    public LockOptions withReleaseAwaited() {
        return with(changed -> changed.releaseAwaited = true);
    }

    /**
     * Sets the fairness.
     *
     * @param fairness who gets the lock next
     * @return a changed copy
     */
    public LockOptions withFairness(Fairness fairness) {
        Objects.requireNonNull(fairness, "fairness");
        return with(changed -> changed.fairness = fairness);
    }

    /**
     * Sets the name shown to people.
     *
     * @param owner not blank, at most 200 bytes of UTF-8, without control characters
     * @return a changed copy
     */
    public LockOptions withOwner(String owner) {
        String checked = Validation.owner(owner);
        return with(changed -> changed.owner = checked);
    }

    /** What a claim with these options asks the store for. */
    Claim.Keeping keeping() {
        return values.keeping;
    }

    /** Only through a client, which knows what its store supports. */
    LockOptions withShare(Share share) {
        return values.share.equals(share) ? this : with(changed -> changed.share = share);
    }

    /** Whether a claim asks for what these options do. */
    boolean suit(Claim claim) {
        return values.lease.equals(claim.lease()) && keeping() == claim.keeping() && values.share.equals(claim.share());
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

    private LockOptions with(Consumer<Values> change) {
        Values changed = new Values(values);
        change.accept(changed);
        return new LockOptions(changed);
    }

    @Override
    public String toString() {
        return "LockOptions[lease=" + values.lease + ", renewed=" + isRenewed() + ", waitTimeout="
                + text(values.waitTimeout) + ", maxHold=" + text(values.maxHold) + ", fairness=" + values.fairness
                + ", releaseAwaited=" + values.releaseAwaited + ", owner="
                + (values.owner.isEmpty() ? "client" : values.owner)
                + (values.share.isWhole() ? "" : ", share=" + values.share.text()) + "]";
    }

    private static String text(Duration value) {
        return value.isZero() ? "none" : value.toString();
    }

    /** What was chosen; zero stands for none. Written only before the options exist, whose final field publishes it. */
    private static final class Values {

        private Duration lease = Duration.ofSeconds(30);
        private Claim.Keeping keeping = Claim.Keeping.RENEWED;
        private Duration waitTimeout = Duration.ZERO;
        private Duration maxHold = Duration.ZERO;
        private Fairness fairness = Fairness.COHORT;
        private String owner = "";
        private boolean releaseAwaited = true;
        private Share share = Share.WHOLE;

        Values() {}

        Values(Values from) {
            lease = from.lease;
            keeping = from.keeping;
            waitTimeout = from.waitTimeout;
            maxHold = from.maxHold;
            fairness = from.fairness;
            owner = from.owner;
            releaseAwaited = from.releaseAwaited;
            share = from.share;
        }
    }
}
