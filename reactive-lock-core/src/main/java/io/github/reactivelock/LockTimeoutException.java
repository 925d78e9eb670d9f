package io.github.reactivelock;

import java.time.Duration;

/** The wait timeout is over, and others had the lock meanwhile. Nothing was acquired; trying again is safe. */
public final class LockTimeoutException extends LockException {

    private static final long serialVersionUID = 1L;

    /**
     * Made by the client; public for tests of code that handles it.
     *
     * @param key of the lock
     * @param waited for how long it was waited for
     */
    public LockTimeoutException(String key, Duration waited) {
        super(
                key,
                "lock '" + key + "' was not granted within " + waited.toMillis()
                        + " ms; wait longer (LockOptions.withWaitTimeout), or see who holds it with inspect",
                null);
    }
}
