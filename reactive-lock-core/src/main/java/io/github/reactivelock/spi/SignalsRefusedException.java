package io.github.reactivelock.spi;

/**
 * The store refuses to push to this client, by configuration and not by a fault: waiting acquisitions fail with this
 * cause. The client goes on asking for signals, in case the configuration changes.
 */
public final class SignalsRefusedException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * A refusal, with which {@link LockBackend#signals()} fails.
     *
     * @param message why, and what to do, without any secret
     * @param cause what the store said
     */
    public SignalsRefusedException(String message, Throwable cause) {
        super(message, cause);
    }
}
