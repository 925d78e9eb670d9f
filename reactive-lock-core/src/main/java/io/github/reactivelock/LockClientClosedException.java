package io.github.reactivelock;

/** The client was closed before the lock was granted. */
public final class LockClientClosedException extends LockException {

    private static final long serialVersionUID = 1L;

    LockClientClosedException(String key) {
        super(key, "lock '" + key + "' was not acquired: its LockClient is closed; use a client that is open", null);
    }
}
