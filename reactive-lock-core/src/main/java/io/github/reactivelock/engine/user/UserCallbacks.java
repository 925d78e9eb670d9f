package io.github.reactivelock.engine.user;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.engine.Settings;
import io.github.reactivelock.spi.support.RepeatedFailures;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Scheduler;

/**
 * The way from the engine to user code: always on the work scheduler, or in its place, never inside an event of a
 * cohort.
 */
public final class UserCallbacks {

    /** Under the name that an application knows. */
    private static final Logger log = LoggerFactory.getLogger("io.github.reactivelock.LockClient");

    private final RepeatedFailures failures = new RepeatedFailures(log, "a LockListener threw; it is ignored");
    private final Scheduler work;
    private final @Nullable LockListener listener;

    public UserCallbacks(Settings settings) {
        this.work = WorkScheduler.of(settings.work());
        this.listener = settings.listener();
    }

    public Scheduler work() {
        return work;
    }

    /** A task of the work scheduler. */
    public void schedule(Runnable task) {
        work.schedule(task);
    }

    public boolean hasListener() {
        return listener != null;
    }

    void tell(Consumer<LockListener> news) {
        try {
            if (listener != null) {
                news.accept(listener);
            }
        } catch (Throwable e) { // an Error too: the flow behind it would never get its lock
            failures.add(e);
        }
    }

    /** News of no request. */
    public void later(Consumer<LockListener> news) {
        if (listener != null) {
            schedule(() -> tell(news));
        }
    }

    public void warn(LockException failure) {
        log.warn("{}", failure.getMessage());
    }
}
