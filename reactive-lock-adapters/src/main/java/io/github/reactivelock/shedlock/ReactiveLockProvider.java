package io.github.reactivelock.shedlock;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.adapters.LeasedLock;
import io.github.reactivelock.blocking.BlockingLockClient;
import java.util.Objects;
import java.util.Optional;
import net.javacrumbs.shedlock.core.ExtensibleLockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;

/**
 * The locks of a {@link LockClient} for ShedLock: a task's name is the key. Safe for use from any thread; it shares
 * everything with its client, and has nothing of its own to close.
 *
 * <p>{@code lockAtMostFor} is the lease of a hold that is not renewed: after it the lock is free, whether the task
 * still runs or its process has died. {@code lockAtLeastFor} is its {@linkplain LockOptions#withMinHold minimum hold}.
 * A task that takes longer runs on without its lock, as with every provider. {@code KeepAliveLockProvider} prevents
 * that: it may be put around this one. An extension keeps the fencing token.
 *
 * <p>A lock that is taken is an empty {@code Optional}. A store that does not answer is
 * {@link io.github.reactivelock.LockUnavailableException}, and the task does not run. Threads that must not block are
 * refused.
 */
public final class ReactiveLockProvider implements ExtensibleLockProvider {

    private final BlockingLockClient locks;

    /**
     * A provider of the locks of a client. Of the client's options, the lease, renewal and retention do not count here.
     *
     * @param client whose locks they are, and who closes it
     * @throws IllegalArgumentException if its locks are shared, so that a task would run more than once at a time
     */
    public ReactiveLockProvider(LockClient client) {
        LockOptions options = Objects.requireNonNull(client, "client").options();
        if (!options.share().isWhole()) {
            throw new IllegalArgumentException(
                    "the client takes locks as " + options.share().text()
                            + ", so a task would run several times at once; give the provider the client itself");
        }
        this.locks = BlockingLockClient.of(client).withoutInterrupts();
    }

    /**
     * Takes the lock of a task if it is free.
     *
     * @param task its name, and for how long
     * @return empty if it is taken
     * @throws IllegalArgumentException if the name is no key, or {@code lockAtMostFor} is zero or more than 365 days
     */
    @Override
    public Optional<SimpleLock> lock(LockConfiguration task) {
        return LeasedLock.take(locks, task.getName(), task.getLockAtMostFor(), task.getLockAtLeastFor())
                .map(held -> new TaskLock(task, held));
    }
}
