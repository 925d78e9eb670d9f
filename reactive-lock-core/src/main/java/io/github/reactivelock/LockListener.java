package io.github.reactivelock;

import java.time.Duration;

/**
 * Hears what a client's locks do, for metrics and alarms. Called on the threads that do the work, so an implementation
 * must be quick and must not block; what it throws is logged and otherwise ignored.
 */
public interface LockListener {

    /**
     * A flow got a lock.
     *
     * @param key the lock's key
     * @param fencingToken the hold's token
     * @param waited from subscription to grant
     */
    default void acquired(String key, long fencingToken, Duration waited) {}

    /**
     * A hold ended by release.
     *
     * @param key the lock's key
     * @param fencingToken the hold's token
     * @param held from grant to release
     */
    default void released(String key, long fencingToken, Duration held) {}

    /**
     * A hold was lost, also when this is learned only at its release.
     *
     * @param loss which one, and why
     */
    default void lost(LockLostException loss) {}

    /**
     * The store did not confirm a release. It is repeated in the background; at worst the lease runs out.
     *
     * @param failure which one, and why
     */
    default void releaseFailed(LockUnavailableException failure) {}
}
