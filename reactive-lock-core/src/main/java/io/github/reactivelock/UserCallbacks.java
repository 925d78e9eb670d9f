package io.github.reactivelock;

import io.github.reactivelock.state.LossReason;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** The way from the engine to user code: always on the work scheduler, or in its place, never inside an event of a cohort. */
final class UserCallbacks {

    private static final Logger log = LoggerFactory.getLogger(UserCallbacks.class);

    private final Scheduler work;
    private final LockListener listener;
    private final Timing timing;

    UserCallbacks(Settings settings, Timing timing) {
        this.work = WorkScheduler.of(settings.work());
        this.listener = settings.listener();
        this.timing = timing;
    }

    Scheduler work() {
        return work;
    }

    void run(Runnable task) {
        Disposable unused = work.schedule(task);
    }

    void tell(Consumer<LockListener> news) {
        try {
            news.accept(listener);
        } catch (Throwable e) { // an Error too: the flow behind it would never hear of its lock
            log.warn("a LockListener threw; it is ignored", e);
        }
    }

    /** A hold was released, at the store or to the next flow of this process. */
    void released(Hold hold, Consumer<@Nullable LockException> outcome) {
        KeyContext keyContext = hold.cohort.keyContext;
        keyContext.conclude(() -> {
            tell(l -> l.released(keyContext.key, hold.fencingToken, timing.since(hold.since)));
            outcome.accept(null);
        });
    }

    /** The store answered a release, or did not. */
    void releaseAnswered(
            Hold hold, boolean owned, @Nullable Throwable failure, Consumer<@Nullable LockException> outcome) {
        String key = hold.cohort.keyContext.key;
        if (failure != null) {
            LockUnavailableException unreleased =
                    new LockUnavailableException(key, "released (it is tried again until its lease is over)", failure);
            log.warn("{}", unreleased.getMessage());
            run(() -> {
                tell(l -> l.releaseFailed(unreleased));
                outcome.accept(unreleased);
            });
        } else if (owned) {
            released(hold, outcome);
        } else {
            LockLostException loss = new LockLostException(key, hold.fencingToken, LossReason.EXPIRED, null);
            lost(loss);
            run(() -> outcome.accept(loss));
        }
    }

    void lost(LockLostException loss) {
        log.warn("{}", loss.getMessage());
        run(() -> tell(l -> l.lost(loss)));
    }
}
