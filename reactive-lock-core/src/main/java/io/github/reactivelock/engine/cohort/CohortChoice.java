package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.state.Share;

/** Where a flow stands: with others behind one claim or a few, or behind a claim of its own. */
final class CohortChoice {

    private CohortChoice() {}

    static Waiter.Queue of(Engine engine, KeyContext keyContext, Waiter waiter) {
        LockOptions options = waiter.options;
        if (waiter.tries || options.fairness() == Fairness.FIFO) {
            return new OrderedCohort(engine, keyContext);
        }
        if (options.share().isWhole()) {
            return keyContext.together();
        }
        if (!options.isRenewed()) { // none could go on to another flow
            return new OrderedCohort(engine, keyContext);
        }
        return options.share().equals(Share.ONE)
                ? keyContext.sharing(() -> new SharedCohort(engine, keyContext))
                : keyContext.permits(() -> new PermitQueue(engine, keyContext));
    }
}
