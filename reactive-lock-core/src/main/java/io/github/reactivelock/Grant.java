package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * A claim that owns its lock at the store, and for how long that may be relied upon. All times are the local monotonic
 * clock's nanoseconds: a grant is good until the sending of the last confirmed question, plus the lease, less a margin.
 * Only {@link #deadline} is read outside the cohort's drain.
 */
final class Grant {

    final Claim claim;
    final long fencingToken;
    final long lease;
    final long since;
    private final long margin;
    private long confirmedAt;
    private volatile long deadline;

    int passes;
    long armedFor = Engine.NEVER;
    boolean renewing;
    long renewalAskedAt;

    @Nullable
    Throwable renewalFailure;

    @Nullable
    LossReason suspicion;
    /** Callers of {@link LockHandle#renew()}, told null or the failure. */
    private List<Consumer<@Nullable LockException>> renewalCallers = List.of();

    Grant(Claim claim, long fencingToken, long lease, long sentAt, long margin, long now) {
        this.claim = claim;
        this.fencingToken = fencingToken;
        this.lease = lease;
        this.margin = margin;
        this.since = now;
        this.confirmedAt = sentAt;
        this.deadline = sentAt + lease - margin;
    }

    void confirmed(long sentAt) {
        if (sentAt - confirmedAt > 0) {
            confirmedAt = sentAt;
            deadline = sentAt + lease - margin;
        }
    }

    long deadline() {
        return deadline;
    }

    boolean isOver(long now) {
        return deadline - now <= 0;
    }

    /** Enough of the lease is left to hand the lock to somebody. */
    boolean isFresh(long now) {
        return deadline - now >= lease / 3;
    }

    boolean isRenewalDue(long now) {
        return !renewing && now - confirmedAt >= lease / 3;
    }

    void addRenewalCaller(Consumer<@Nullable LockException> caller) {
        if (renewalCallers.isEmpty()) {
            renewalCallers = new ArrayList<>(1);
        }
        renewalCallers.add(caller);
    }

    List<Consumer<@Nullable LockException>> takeRenewalCallers() {
        List<Consumer<@Nullable LockException>> callers = renewalCallers;
        renewalCallers = List.of();
        return callers;
    }
}
