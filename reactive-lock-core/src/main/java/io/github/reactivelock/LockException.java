package io.github.reactivelock;

import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What can go wrong with a lock, told apart by what the caller can do about it. Its stack trace is empty, because it is
 * made on threads of the library. Where it came to the caller is in its suppressed exceptions, from {@code block()} and
 * from Reactor's {@code checkpoint} and debug mode.
 */
public abstract sealed class LockException extends RuntimeException
        permits LockTimeoutException, LockLostException, LockUnavailableException, LockClientClosedException {

    private static final long serialVersionUID = 1L;
    private static final String OURS = "io.github.reactivelock.";
    private static final int DEEPEST = 8;

    /** As the user wrote it. */
    private final String key;

    LockException(String key, String message, @Nullable Throwable cause) {
        super(message, withoutOurFrames(cause), true, false);
        this.key = key;
    }

    /**
     * What this library made itself says in words what was the matter, and its frames are those of a timer or an event.
     * Those of drivers stay, and those of what may be a defect here.
     */
    private static @Nullable Throwable withoutOurFrames(@Nullable Throwable cause) {
        Throwable each = cause;
        for (int depth = 0; each != null && depth < DEEPEST; depth++) {
            if (each instanceof TimeoutException || each instanceof IllegalStateException) {
                StackTraceElement[] frames = each.getStackTrace();
                if (frames.length > 0 && frames[0].getClassName().startsWith(OURS)) {
                    each.setStackTrace(new StackTraceElement[0]);
                }
            }
            each = each.getCause();
        }
        return cause;
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
