package io.github.reactivelock.spi;

/**
 * A store will push nothing to this client, because of what somebody decided and not because something is broken: who
 * waits in its queue is told so. Signals are asked for again all the same, in case the decision is changed.
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
