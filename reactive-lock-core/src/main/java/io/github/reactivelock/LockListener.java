package io.github.reactivelock;

import java.time.Duration;

/**
 * Receives what a client's locks do, for metrics, traces and alarms. Every event is a method that does nothing by
 * default, so an implementation has those it wants, and later versions may add more.
 *
 * <p>For each request {@link #waiting} comes first, and then exactly one of {@link #acquired}, {@link #timedOut},
 * {@link #cancelled}, {@link #unavailable} and {@link #busy}. After {@link #acquired} exactly one of {@link
 * #released}, {@link #lost} and {@link #releaseFailed} comes last. The events of one request come in the order in
 * which they happen, and never two at a time; events of different requests come at any time, on any thread.
 *
 * <p>An acquisition that joins a hold of its own flow makes no event.
 *
 * <p>Called on the client's work scheduler, but for {@link #waiting}: that is called on the subscribing thread, before
 * the store is asked. An implementation must be quick and must not block; what it throws is logged and otherwise
 * ignored.
 */
public interface LockListener {

    /**
     * A flow began to wait for a lock, however soon it gets it.
     *
     * @param request who, and for what
     */
    default void waiting(LockRequest request) {}

    /**
     * A flow got a lock.
     *
     * @param request who, and for what
     * @param fencingToken the hold's token
     * @param waited from the beginning of the wait to the grant
     */
    default void acquired(LockRequest request, long fencingToken, Duration waited) {}

    /**
     * A flow gets its lock from another flow of this client, without a question to the store; {@link #acquired}
     * follows.
     *
     * @param request who gets it
     * @param fencingToken the token of the hold that begins
     */
    default void passed(LockRequest request, long fencingToken) {}

    /**
     * A flow gets a lock that this client has kept for it ({@link LockOptions#withRetention}); {@link #passed} and
     * {@link #acquired} follow.
     *
     * @param request who gets it
     */
    default void retentionHit(LockRequest request) {}

    /**
     * The store is asked for a lock that may be kept, because it is not. Told with what comes next of that request;
     * not of a flow that gets its lock from another.
     *
     * @param request the one that the store is asked for
     */
    default void retentionMissed(LockRequest request) {}

    /**
     * Another client wants a lock that this one has, which it may keep. Told once of each grant, whether a flow is in
     * or not. Beside {@link #retentionHit} it shows whether to keep locks pays.
     *
     * @param key the lock's key
     */
    default void recalled(String key) {}

    /**
     * A flow did not get the lock within its wait timeout.
     *
     * @param request who, and for what
     * @param timeout as the subscriber sees it
     */
    default void timedOut(LockRequest request, LockTimeoutException timeout) {}

    /**
     * A flow gave up: its subscriber cancelled, or it lost another lock that it wanted to hold together with this
     * one.
     *
     * @param request who, and for what
     */
    default void cancelled(LockRequest request) {}

    /**
     * A flow will not get the lock, because the store cannot give it or the client is closed.
     *
     * @param request who, and for what
     * @param failure as the subscriber sees it, {@link LockUnavailableException} or {@link LockClientClosedException}
     */
    default void unavailable(LockRequest request, LockException failure) {}

    /**
     * A flow did not want to wait, and the lock was taken.
     *
     * @param request who, and for what
     */
    default void busy(LockRequest request) {}

    /**
     * A renewal of a hold failed; it is tried again until the hold's deadline.
     *
     * @param request whose hold
     * @param fencingToken the hold's token
     * @param cause what the store or its driver said
     */
    default void renewalFailed(LockRequest request, long fencingToken, Throwable cause) {}

    /**
     * A hold may soon be lost; {@link HoldState} says when.
     *
     * @param request whose hold
     * @param fencingToken the hold's token
     * @param risk what is left, and why
     */
    default void atRisk(LockRequest request, long fencingToken, HoldState.AtRisk risk) {}

    /**
     * A hold that was at risk is safe again.
     *
     * @param request whose hold
     * @param fencingToken the hold's token
     */
    default void safeAgain(LockRequest request, long fencingToken) {}

    /**
     * A hold ended by release.
     *
     * @param request whose hold
     * @param fencingToken the hold's token
     * @param held from grant to release
     */
    default void released(LockRequest request, long fencingToken, Duration held) {}

    /**
     * A hold was lost, also when this is learned only at its release.
     *
     * @param request whose hold
     * @param loss which one, and why
     */
    default void lost(LockRequest request, LockLostException loss) {}

    /**
     * The store did not confirm a release. It is repeated in the background; at worst the lease runs out.
     *
     * @param request whose hold
     * @param failure which one, and why
     */
    default void releaseFailed(LockRequest request, LockUnavailableException failure) {}
}
