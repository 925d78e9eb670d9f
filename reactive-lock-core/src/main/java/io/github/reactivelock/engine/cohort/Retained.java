package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.spi.Signal;
import org.jspecify.annotations.Nullable;

/**
 * A claim that no flow needs and that is kept for the next one. Nothing renews it, and it ends without a word: idle is
 * not held ({@code docs/design/retention.md}, rule 1). It stands for one member of its key, as the hold did before it.
 */
final class Retained implements Phase {

    final Cohort cohort;
    final Grant grant;

    Retained(Cohort cohort, Grant grant) {
        this.cohort = cohort;
        this.grant = grant;
    }

    /** Out of every table; inside an event of the key, in which it goes to a flow or back to the store. */
    void takeOut() {
        cohort.enter(IDLE);
        goOut();
    }

    /** A hold of a claim that came in its place may stand there by now. */
    private void goOut() {
        cohort.engine.retention.remove(this);
        if (cohort.keyContext.recallable == this) {
            cohort.keyContext.recallable = null;
        }
        cohort.keyContext.depart();
    }

    /** Unless a flow has it by now, {@code models/Retention.tla: CallsBack}. */
    void giveBack() {
        if (cohort.isIn(this)) {
            cohort.withdraw();
            cohort.claim(); // for flows that came while another hold of the key stood in its place
        }
    }

    @Override
    public void giveUp() {
        cohort.giveBack(grant.claim);
        goOut();
    }

    /** The store has lost the claim and granted it anew. */
    @Override
    public void pushed(Signal.Grant anew) {
        if (grant.claim.id().equals(anew.claimId()) && anew.fencingToken() > grant.currentToken()) {
            giveBack();
        }
    }

    @Override
    public Grant grant() {
        return grant;
    }

    @Override
    public void tick(long now) {
        if (!grant.mayStay()) {
            giveBack();
        } else {
            Timing timing = cohort.engine.services.timing;
            long end = grant.staysUntil();
            if (timing.isBeforeNextTick(end, now)) {
                timing.after(end - now, cohort::tick);
            }
        }
    }

    @Override
    public long quietUntil(long now) {
        return grant.staysUntil() - Timing.BEFORE_A_DEADLINE;
    }

    /** Rule 4: one that names another claim changes nothing. */
    @Override
    public void recalled(String claimId) {
        if (grant.claim.id().equals(claimId)) {
            cohort.engine.retention.recalled(grant);
            giveBack();
        }
    }

    @Override
    public void suspected(Signal.Suspect suspect) {
        if (grant.claim.id().equals(suspect.claimId())) {
            giveBack();
        }
    }

    /** A recall may have been missed. */
    @Override
    public void recheck() {
        giveBack();
    }

    @Override
    public void signalsRefused() {
        giveBack();
    }

    /** No flow waits here. */
    @Override
    public boolean suits(@Nullable LockOptions wanted) {
        return true;
    }

    @Override
    public boolean showsTaken() {
        return false;
    }
}
