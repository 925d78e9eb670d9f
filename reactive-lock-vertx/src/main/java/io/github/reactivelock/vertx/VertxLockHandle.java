package io.github.reactivelock.vertx;

import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockLostException;
import io.vertx.core.Future;
import io.vertx.core.Handler;
import io.vertx.core.streams.ReadStream;
import java.time.Duration;

/**
 * A lock that is held. One handle belongs to one acquisition; handles of a reentrant acquisition share the hold, which
 * ends with the last of them. Safe for use from any thread; futures and handlers run on their caller's context.
 */
public interface VertxLockHandle {

    /**
     * The lock's key.
     *
     * @return as the user wrote it
     */
    String key();

    /**
     * A number that is higher than that of every earlier hold of this key, in any process. Send it along with each
     * write, and let the resource reject lower tokens than it has seen.
     *
     * @return the fencing token
     */
    long fencingToken();

    /**
     * How long the holder may still act without hearing from the store, by the local monotonic clock.
     *
     * @return zero once the hold is over
     */
    Duration remaining();

    /**
     * Whether the holder may act now: neither released nor lost, and the clock compared. Cheap; look before each act
     * that matters.
     *
     * @return false once the hold is over
     */
    boolean isHeld();

    /**
     * Sets a handler for the loss, called at once if the loss happened already and never for a release. Each call adds
     * one handler.
     *
     * @param handler called before the lease can have run out at the store
     */
    void onLost(Handler<LockLostException> handler);

    /**
     * Tells how sure this hold is of its lock: the present state when a handler is set, then each change, until it is
     * set to null. A stream that is slow gets the newest. {@link HoldState} says which losses come without
     * {@link HoldState.AtRisk}.
     *
     * @return states on the context of this method's caller; ends after {@link HoldState.Lost}, or when the release is
     *     done
     */
    ReadStream<HoldState> states();

    /**
     * Lets the lease start anew, for holds that are not renewed by themselves.
     *
     * @return completes when the store has confirmed; fails with {@link LockLostException} or
     *     {@link io.github.reactivelock.LockUnavailableException}
     */
    Future<Void> renew();

    /**
     * Ends this acquisition. Idempotent: the first call releases, later ones see the same outcome. A release the store
     * did not answer is repeated in the background until the lease must have run out.
     *
     * @return completes when the lock is given up or passed on; fails with {@link LockLostException} if it had been
     *     lost, with {@link io.github.reactivelock.LockUnavailableException} if the store did not answer
     */
    Future<Void> release();
}
