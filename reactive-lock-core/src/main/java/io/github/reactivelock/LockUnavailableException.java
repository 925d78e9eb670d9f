package io.github.reactivelock;

import io.github.reactivelock.text.ClassPathFault;
import org.jspecify.annotations.Nullable;

/** The store could not be asked: unreachable, refusing, or silent. Nothing is held by the caller. */
public final class LockUnavailableException extends LockException {

    private static final long serialVersionUID = 1L;

    /**
     * Made by the client; public for tests of code that handles it.
     *
     * @param key of the lock
     * @param action what was to be done with it, as {@code acquired}
     * @param cause what the store said, or that it said nothing; null if it gave no reason
     */
    public LockUnavailableException(String key, String action, @Nullable Throwable cause) {
        super(key, "lock '" + key + "' could not be " + action + ": " + reason(cause), cause);
    }

    /**
     * For a store that was looked at with a key that is never locked; this concerns no lock in particular. Made by the
     * client; public for tests of code that handles it.
     *
     * @param key that was looked at
     * @param cause what the store said, or that it said nothing
     */
    public LockUnavailableException(String key, Throwable cause) {
        super(key, "the lock store is not ready: " + reason(cause), cause);
    }

    private static String reason(@Nullable Throwable cause) {
        return ClassPathFault.in(cause)
                .orElseGet(() ->
                        cause == null || cause.getMessage() == null ? "the store gave no reason" : cause.getMessage());
    }
}
