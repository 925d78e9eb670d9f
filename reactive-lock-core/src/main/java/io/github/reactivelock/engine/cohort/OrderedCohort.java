package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.engine.claim.Attempt;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.PendingRelease;
import io.github.reactivelock.engine.flow.WaitingFlows;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.spi.Claim;
import org.jspecify.annotations.Nullable;

/**
 * A cohort of one flow, which has a claim of its own and so a place of its own in the store's queue:
 * {@link Fairness#FIFO}, or an attempt that does not wait. It knows which neighbours of the same client it has there,
 * the owner's place included. As a queue grows at its end only, neighbours stay that until one of them leaves. Their
 * first questions go to the store together, see {@link ClaimBatcher}.
 */
final class OrderedCohort extends Cohort {

    private @Nullable OrderedCohort ahead;
    private @Nullable OrderedCohort behind;
    /** The store said behind whom. */
    private boolean placed;

    OrderedCohort(Engine engine, KeyContext keyContext) {
        super(engine, keyContext, new WaitingFlows(keyContext));
    }

    /** Whom the store serves directly after this one, if that is known and of this client. */
    @Override
    @Nullable
    Cohort heir() {
        return behind;
    }

    /**
     * If it is this client's claim, its flow may give us its grant; no other client's flow may,
     * {@code models/Cohort.tla: StoreSaysBehind}. Who is still behind the same one keeps those behind itself.
     */
    @Override
    public void standsBehind(String claimId) {
        placed = true;
        Cohort before = engine.cohortOf(claimId);
        if (before != null && before == ahead) {
            return;
        }
        leavePlace();
        if (before instanceof OrderedCohort other && other != this && other.keyContext == keyContext) {
            follow(other);
        }
    }

    private void follow(OrderedCohort other) {
        if (other.behind != null) {
            other.behind.served();
        }
        other.behind = this;
        ahead = other;
    }

    @Override
    public void served() {
        if (ahead != null) {
            ahead.behind = null;
            ahead = null;
        }
    }

    /** What was behind it is behind what was ahead of it. */
    @Override
    public void leavePlace() {
        if (ahead != null) {
            ahead.behind = behind;
        }
        if (behind != null) {
            behind.ahead = ahead;
        }
        ahead = null;
        behind = null;
    }

    // ---- claims that go to the store together

    @Override
    public void begin(Attempt attempt) {
        ClaimBatcher batcher = keyContext.batcher;
        if (batcher == null || attempt.claim.mode() == Claim.Mode.TRY || !batcher.takes(attempt)) {
            attempt.begin();
        }
    }

    @Override
    public void holds(Grant fresh) {
        if (placed) {
            if (keyContext.batcher == null) {
                keyContext.batcher = new ClaimBatcher(keyContext, keyContext.services().timing);
            }
            keyContext.batcher.open(fresh);
        }
    }

    @Override
    public void over(Grant grant) {
        if (keyContext.batcher != null) {
            keyContext.batcher.shut(grant);
        }
    }

    @Override
    public PendingRelease.Outcome toBeTold(Hold released) {
        ClaimBatcher batcher = keyContext.batcher;
        return batcher != null && batcher.isOpenFor(released.grant) ? new Awaited(released) : released;
    }

    /** A release whose answer claims wait for. */
    private final class Awaited implements PendingRelease.Outcome {

        private final Hold hold;

        Awaited(Hold hold) {
            this.hold = hold;
        }

        @Override
        public void released() {
            goOn();
            hold.released();
        }

        @Override
        public void wasOver() {
            goOn();
            hold.wasOver();
        }

        @Override
        public void unanswered(Throwable failure) {
            goOn();
            hold.unanswered(failure);
        }

        private void goOn() {
            post(() -> over(hold.grant));
        }
    }
}
