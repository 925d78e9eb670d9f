package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.text.Validation;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;

/**
 * How a lock is asked for and kept. Immutable; every {@code with…} method returns a changed copy. Four times are
 * easily confused: {@link #lease()} is how long the <em>store</em> keeps a hold without hearing from its client,
 * {@link #waitTimeout()} how long a <em>caller</em> waits to get one, {@link #maxHold()} how long the <em>work</em>
 * may take, {@link #minHold()} how long the <em>lock</em> stays taken at least.
 */
public final class LockOptions {

    private static final Duration SHORTEST = Duration.ofMillis(100);
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
     * How long the store keeps a hold, or a place in its queue, after the claim or renewal that last reached it.
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
     * How long a lock stays taken at least, from when a flow gets it, also if its hold ends sooner.
     *
     * @return empty for not longer than the hold
     */
    public Optional<Duration> minHold() {
        return optional(values.minHold);
    }

    /**
     * How long a lock that was lost stays taken after its lease.
     *
     * @return empty for not at all
     */
    public Optional<Duration> lockDelay() {
        return optional(values.lockDelay);
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
     * The owner's name, which people see who inspect the lock. It decides nothing: random claim ids distinguish
     * holds, and {@link LockContext#owner(String)} makes {@code acquire} reentrant.
     *
     * @return empty to use the client's name
     */
    public Optional<String> owner() {
        return values.owner.isEmpty() ? Optional.empty() : Optional.of(values.owner);
    }

    /**
     * For how long a lock that no flow needs is kept for the next flow of its client.
     *
     * @return empty for not at all
     */
    public Optional<Duration> retention() {
        return optional(values.retention);
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
     * Limits the wait; it then ends in {@link LockTimeoutException}, or in {@link LockUnavailableException} where the
     * store said nothing of another that has the lock. It begins when the store is asked, and not before that has
     * answered for the first time: neither opening a connection nor loading classes counts.
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
     * @param maxHold between 100 milliseconds and 365 days, not less than {@link #minHold()}
     * @return a changed copy
     */
    public LockOptions withMaxHold(Duration maxHold) {
        Duration checked = checked("maxHold", maxHold, SHORTEST);
        return with(changed -> changed.maxHold = checked);
    }

    /**
     * Keeps a lock whose hold ends sooner for the rest of this time, unrenewed: for jobs that several processes
     * start, whose clocks differ. It counts from when the flow gets the lock: the work begins, or the handle is
     * emitted. However the work ends, done, failed or cancelled, a command then sets at the store until when the lock
     * is kept; the release is done when the store has confirmed it. From then on the lock stays taken also if this
     * process dies, for flows of this process too, and until an operator ends it. The strictest of reentrant
     * acquisitions counts, from when it joins.
     *
     * <p>While the hold lasts nothing changes: if the process dies then, or the lock is lost, it is free when its lease
     * is over, because the work was not done. ZooKeeper and Consul keep nothing beyond a session, so there this ends
     * with the client.
     *
     * @param minHold between 1 millisecond and 365 days; not more than {@link #maxHold()}, which is refused here and in
     *     {@link #withMaxHold}, nor than the lease of a hold that is not renewed, which {@link LockClient#with} refuses
     * @return a changed copy
     */
    public LockOptions withMinHold(Duration minHold) {
        Duration checked = checked("minHold", minHold, Duration.ofMillis(1));
        return with(changed -> changed.minHold = checked);
    }

    /**
     * Keeps a lock that was lost taken for this long after its lease, for resources that cannot compare fencing
     * tokens: what the former holder has sent may still reach them. The store keeps the hold for the lease and this,
     * of which the holder relies on the lease only, so it is so also when the process dies. A release frees the lock
     * at once, and so do {@link LockClient#close} and {@link LockClient#forceRelease}. An acquisition that joins a
     * hold may not ask for more than that has. Of a lock that is shared only the units of that hold stay in use.
     *
     * @param lockDelay between 1 millisecond and 365 days; with the lease it has to fit what the store allows: the
     *     longest lease of a quorum, half of the session timeout of ZooKeeper
     * @return a changed copy
     */
    public LockOptions withLockDelay(Duration lockDelay) {
        Duration checked = checked("lockDelay", lockDelay, Duration.ofMillis(1));
        return with(changed -> changed.lockDelay = checked);
    }

    /**
     * Keeps a lock that no flow needs any more, for the next flow of this client: it gets the lock without a question
     * to the store. For keys that mostly one process uses. A release is done at once then; at the store the lock
     * stays this client's until this time is over, which begins with the first release and is not begun anew by those
     * after it. It is given back before, as soon as another client wants it: that one calls it back, and gets it when
     * no flow here is in. What is called back is not kept again until this client has taken it twice without a
     * recall.
     *
     * <p>A lock that is kept is not held: nothing is renewed, and nothing is lost if it ends. Its store shows its owner
     * as ever. A {@code tryAcquire} of another client that finds it waits for its answer: a tenth of a second and the
     * time of three answers of the store, at most.
     *
     * @param retention between 1 millisecond and the lease. {@link LockClient#with} refuses a longer one, and any
     *     together with {@link Fairness#FIFO}, a share, a minimum hold, {@link #withoutRenewal()}, or a store that
     *     cannot call a lock back
     * @return a changed copy
     */
    public LockOptions withRetention(Duration retention) {
        Duration checked = checked("retention", retention, Duration.ofMillis(1));
        return with(changed -> changed.retention = checked);
    }

    /**
     * Gives a lock back as soon as no flow needs it, which is the default.
     *
     * @return a changed copy
     */
    public LockOptions withoutRetention() {
        return with(changed -> changed.retention = Duration.ZERO);
    }

    /**
     * Lets the outcome of a {@code withLock} go on as soon as the release is on its way, which saves a round trip. It
     * is emitted where the work ended. A later claim of this client reaches the store behind the release; others may
     * find the lock held for a moment. A release that fails is logged, reported to the {@link LockListener} and tried
     * again, as it is without this. A handle of {@code acquire} is released as ever.
     *
     * @return a changed copy
     */
    public LockOptions withReleaseInBackground() {
        return with(changed -> changed.releaseAwaited = false);
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
     * Sets the owner's name, for people.
     *
     * @param owner not blank, at most 200 bytes of UTF-8, without control characters
     * @return a changed copy
     */
    public LockOptions withOwner(String owner) {
        String checked = Validation.owner(owner);
        return with(changed -> changed.owner = checked);
    }

    /** Only through a client, which knows what its store supports. */
    LockOptions withShare(Share share) {
        return values.share.equals(share) ? this : with(changed -> changed.share = share);
    }

    private static Optional<Duration> optional(Duration value) {
        return value.isZero() ? Optional.empty() : Optional.of(value);
    }

    private LockOptions with(Consumer<Values> change) {
        Values changed = new Values(values);
        change.accept(changed);
        return new LockOptions(changed.checkHolds());
    }

    @Override
    public String toString() {
        return "LockOptions" + values;
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

    /** What was chosen; zero stands for none. Written only before the options exist, whose final field publishes it. */
    private static final class Values {

        Duration lease = Duration.ofSeconds(30);
        Claim.Keeping keeping = Claim.Keeping.RENEWED;
        Duration waitTimeout = Duration.ZERO;
        Duration maxHold = Duration.ZERO;
        Duration minHold = Duration.ZERO;
        Duration lockDelay = Duration.ZERO;
        Duration retention = Duration.ZERO;
        Fairness fairness = Fairness.COHORT;
        String owner = "";
        boolean releaseAwaited = true;
        Share share = Share.WHOLE;

        Values() {}

        Values(Values from) {
            lease = from.lease;
            keeping = from.keeping;
            waitTimeout = from.waitTimeout;
            maxHold = from.maxHold;
            minHold = from.minHold;
            lockDelay = from.lockDelay;
            retention = from.retention;
            fairness = from.fairness;
            owner = from.owner;
            releaseAwaited = from.releaseAwaited;
            share = from.share;
        }

        /** Refuses a hold that would have to be over before it may be. */
        Values checkHolds() {
            if (!maxHold.isZero() && minHold.compareTo(maxHold) > 0) {
                throw new IllegalArgumentException("minHold of " + minHold + " is longer than maxHold of " + maxHold
                        + ", which ends every hold before that; use a shorter minHold or a longer maxHold");
            }
            return this;
        }

        @Override
        public String toString() {
            return "[lease=" + lease + ", renewed=" + (keeping == Claim.Keeping.RENEWED) + ", waitTimeout="
                    + text(waitTimeout) + ", maxHold=" + text(maxHold) + ", minHold=" + text(minHold) + ", lockDelay="
                    + text(lockDelay) + (retention.isZero() ? "" : ", retention=" + retention) + ", fairness="
                    + fairness + ", releaseAwaited=" + releaseAwaited + ", owner="
                    + (owner.isEmpty() ? "client" : owner)
                    + (share.isWhole() ? "" : ", share=" + share.text()) + "]";
        }

        private static String text(Duration value) {
            return value.isZero() ? "none" : value.toString();
        }
    }
}
