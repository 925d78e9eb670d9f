package io.github.reactivelock.blocking;

/**
 * Work under a lock without a result. It runs once, on the thread of its caller.
 *
 * @param <E> what it throws beside unchecked exceptions
 */
@FunctionalInterface
public interface LockedRun<E extends Exception> {

    /**
     * Does the work. The thread is interrupted when the lock is lost.
     *
     * @throws E if the work fails
     */
    void run() throws E;
}
