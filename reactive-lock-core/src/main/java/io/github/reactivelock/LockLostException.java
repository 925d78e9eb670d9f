package io.github.reactivelock;

import io.github.reactivelock.state.LossReason;
import org.jspecify.annotations.Nullable;

/**
 * The lock ended without a release. The work under it was cancelled; whether its last step
 * took effect is for the resource to say, by the fencing token.
 */
public final class LockLostException extends LockException {

    private static final long serialVersionUID = 1L;

    /** Token of the lost hold. */
    private final long fencingToken;
    /** Why it was lost. */
    private final LossReason reason;

    /**
     * Made by the client; public for tests of code that handles it.
     *
     * @param key of the lock
     * @param fencingToken of the hold that was lost
     * @param reason why it was lost
     * @param cause what led to it; null if nothing else did
     */
    public LockLostException(String key, long fencingToken, LossReason reason, @Nullable Throwable cause) {
        super(
                key,
                "lock '" + key + "' with fencing token " + fencingToken + " was lost: " + reason.text()
                        + (cause == null ? "" : " (" + cause.getMessage() + ")")
                        + "; check by the token what was written, then acquire again",
                cause);
        this.fencingToken = fencingToken;
        this.reason = reason;
    }

    /**
     * The token of the hold that was lost.
     *
     * @return the fencing token
     */
    public long fencingToken() {
        return fencingToken;
    }

    /**
     * Why it was lost.
     *
     * @return the reason
     */
    public LossReason reason() {
        return reason;
    }
}
