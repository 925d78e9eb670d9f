package io.github.reactivelock.state;

import java.time.Duration;

/** A lock as the store shows it at one moment. */
public sealed interface LockInfo {

    /**
     * The lock's key.
     *
     * @return the key as the user wrote it
     */
    String key();

    /**
     * The lock is free.
     *
     * @param key the lock's key
     */
    record Free(String key) implements LockInfo {}

    /**
     * A claim owns the lock. Hand-overs inside the owner's process are not visible here: {@code owner} and
     * {@code fencingToken} are those of the store's grant.
     *
     * @param key the lock's key
     * @param owner the name the claim gave itself
     * @param fencingToken the token of the grant
     * @param remaining what is left of the lease by the store's clock
     * @param waiters claims in the store's queue; a process that passes the lock on among its own flows counts once
     */
    record Held(String key, String owner, long fencingToken, Duration remaining, long waiters) implements LockInfo {}
}
