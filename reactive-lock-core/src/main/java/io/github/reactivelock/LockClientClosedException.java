package io.github.reactivelock;

/** The client was closed before it could do what was asked. */
public final class LockClientClosedException extends LockException {

    private static final long serialVersionUID = 1L;

    /**
     * Made by the client; public for tests of code that handles it.
     *
     * @param key of the lock
     */
    public LockClientClosedException(String key) {
        super(key, "lock '" + key + "' cannot be used: its LockClient is closed; use a client that is open", null);
    }
}
