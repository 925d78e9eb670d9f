package io.github.reactivelock;

import java.time.Duration;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.scheduler.Scheduler;

/** The way from the engine to user code: always on the work scheduler, or in its place, never inside an event of a cohort. */
final class UserCallbacks {

    /** A client's unless it was given another one. */
    static final LockListener NO_LISTENER = new LockListener() {};

    private static final Logger log = LoggerFactory.getLogger(UserCallbacks.class);

    private final Scheduler work;
    private final LockListener listener;

    UserCallbacks(Settings settings) {
        this.work = WorkScheduler.of(settings.work());
        this.listener = settings.listener();
    }

    /** Whether what is told to the listener reaches no code of a user. */
    boolean areUnheard() {
        return listener == NO_LISTENER;
    }

    Scheduler work() {
        return work;
    }

    void run(Runnable task) {
        Disposable unused = work.schedule(task);
    }

    /** @param waited nanoseconds, as {@code lasted} below */
    void acquired(String key, long fencingToken, long waited) {
        tell(l -> l.acquired(key, fencingToken, Duration.ofNanos(waited)));
    }

    void released(String key, long fencingToken, long lasted) {
        tell(l -> l.released(key, fencingToken, Duration.ofNanos(lasted)));
    }

    void tell(Consumer<LockListener> news) {
        try {
            news.accept(listener);
        } catch (Throwable e) { // an Error too: the flow behind it would never hear of its lock
            log.warn("a LockListener threw; it is ignored", e);
        }
    }

    /** The store did not answer the first try of a release. */
    void releaseFailed(LockUnavailableException failure, Consumer<@Nullable LockException> outcome) {
        log.warn("{}", failure.getMessage());
        run(() -> {
            tell(l -> l.releaseFailed(failure));
            outcome.accept(failure);
        });
    }

    void lost(LockLostException loss) {
        log.warn("{}", loss.getMessage());
        run(() -> tell(l -> l.lost(loss)));
    }
}
