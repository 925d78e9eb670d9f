package io.github.reactivelock;

import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A lock that is held. One handle belongs to one acquisition; handles of a reentrant acquisition share the hold, which
 * ends with the last of them. Safe for use from any thread.
 *
 * <p>The caller of {@code acquire} has to release it. Clean-up that continues after a cancel, such as a coroutine under
 * {@code NonCancellable}, is covered only if it releases the handle as its last step.
 *
 * <p>A handle that gets lost keeps the lock, renewed, for the longest hold or until the client is closed. So
 * beware of operators that throw a value away ({@code timeout}, {@code take}), of a lambda given to
 * {@code subscribe} that is disposed at that very moment, and of {@code block()} on a thread that may not block, such
 * as one of {@code Schedulers.parallel()}, which Reactor refuses only after it has subscribed. Where {@code block()}
 * follows directly on {@link LockClient#acquire}, or after operators like {@code map}, the lock is not asked for then;
 * where that publisher is subscribed to within another, as in a function given to {@code flatMap}, that cannot be seen.
 */
public interface LockHandle {

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
     * Tells of the loss of this hold. Cold, may be subscribed to at any time and any number of times; cancelling has no
     * effect on the hold.
     *
     * @return emits the loss when it happens, before the lease can have run out at the store; completes empty when the
     *     hold is released
     */
    Mono<LockLostException> lost();

    /**
     * Tells how sure this hold is of its lock: the present state at once, then each change. Cold, may be subscribed to
     * at any time and any number of times; cancelling has no effect on the hold. A subscriber that is slow misses
     * states and hears the newest. {@link HoldState} says which losses come without {@link HoldState.AtRisk}.
     *
     * @return states; completes after {@link HoldState.Lost}, or when the release is done; completes at once if this
     *     hold was released before; never fails
     */
    Flux<HoldState> states();

    /**
     * Lets the lease start anew, for holds that are not renewed by themselves. Cold; each subscription asks the store
     * once. Cancelling does not take back what was sent.
     *
     * @return completes when the store has confirmed; fails with {@link LockLostException} or
     *     {@link LockUnavailableException}
     */
    Mono<Void> renew();

    /**
     * Ends this acquisition. Cold and idempotent: the first subscription releases, later ones see the same outcome.
     * Cancelling does not stop a release that has begun. A release the store did not answer is repeated in the
     * background until the lease must have run out.
     *
     * @return completes when the lock is given up, passed on, or kept for the rest of its minimum; fails with
     *     {@link LockLostException} if it had been lost, with {@link LockUnavailableException} if the store did not
     *     answer
     */
    Mono<Void> release();
}
