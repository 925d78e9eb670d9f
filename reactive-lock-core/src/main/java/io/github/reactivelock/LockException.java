package io.github.reactivelock;

import org.jspecify.annotations.Nullable;

/**
 * What can go wrong with a lock, told apart by what the caller can do about it. Its stack trace is empty, because it is
 * made on threads of the library. Where it came to the caller is in its suppressed exceptions, from {@code block()} and
 * from Reactor's {@code checkpoint} and debug mode.
 */
public abstract sealed class LockException extends RuntimeException
        permits LockTimeoutException, LockLostException, LockUnavailableException, LockClientClosedException {

    private static final long serialVersionUID = 1L;

    /** As the user wrote it. */
    private final String key;

    LockException(String key, String message, @Nullable Throwable cause) {
        super(message, cause, true, false);
        this.key = key;
    }

    /**
     * The key of the lock in question.
     *
     * @return as the user wrote it
     */
    public final String key() {
        return key;
    }
}
