package io.github.reactivelock.blocking;

import org.jspecify.annotations.Nullable;

/**
 * Work under locks that sees its hold and has a result. It runs once, on the thread of its caller.
 *
 * @param <T> the type of the result, which may be null
 * @param <E> what it throws beside unchecked exceptions
 */
@FunctionalInterface
public interface LockedCall<T extends @Nullable Object, E extends Exception> {

    /**
     * Does the work. The thread is interrupted when the lock is lost.
     *
     * @param held the hold, for the fencing token above all; it need not be closed
     * @return the result
     * @throws E if the work fails
     */
    T call(HeldLock held) throws E;
}
