package io.github.reactivelock.shedlock;

import io.github.reactivelock.adapters.LeasedLock;
import java.util.Optional;
import net.javacrumbs.shedlock.core.AbstractSimpleLock;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/** The lock of a task that runs. */
final class TaskLock extends AbstractSimpleLock {

    private final LeasedLock held;

    TaskLock(LockConfiguration task, LeasedLock held) {
        super(task);
        this.held = held;
    }

    /** Says nothing of a lock whose time was over before the task was, as ShedLock's own. */
    @Override
    protected void doUnlock() {
        held.release();
    }

    @Override
    protected Optional<SimpleLock> doExtend(LockConfiguration next) {
        return held.extend(next.getLockAtMostFor(), next.getLockAtLeastFor())
                .map(extended -> new TaskLock(next, extended));
    }
}
