package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;

/** In which cohort a flow stands: with others behind one claim, or behind a claim of its own. */
final class CohortChoice implements Engine.Cohorts {

    @Override
    public Cohort of(Engine engine, KeyContext keyContext, Waiter waiter) {
        LockOptions options = waiter.options;
        if (waiter.mode == Claim.Mode.TRY || options.fairness() == Fairness.FIFO) {
            return new OrderedCohort(engine, keyContext);
        }
        if (options.share().isWhole()) {
            return keyContext.together();
        }
        return options.share().equals(Share.ONE) && options.isRenewed()
                ? keyContext.sharing(() -> new SharedCohort(engine, keyContext))
                : new OrderedCohort(engine, keyContext);
    }
}
