package io.github.reactivelock.election;

import io.github.reactivelock.LockLostException;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** One term of one leader, as the work that leads sees it. Safe for use from any thread. */
public interface Leadership {

    /**
     * The key of the election.
     *
     * @return as the user wrote it
     */
    String key();

    /**
     * The term's number: the fencing token of the hold, which is higher than that of every earlier term of this
     * election, in any process. Send it along with each write, and let the resource refuse lower ones.
     *
     * @return the term
     */
    long term();

    /**
     * Whether the leader may act now: it has neither stepped down nor lost the lock, and the clock was compared. Cheap;
     * look before each act that matters.
     *
     * @return false once the term is over
     */
    boolean isLeader();

    /**
     * How long the leader may still act without hearing from the store, by the local monotonic clock.
     *
     * @return zero once the term is over
     */
    Duration remaining();

    /**
     * Tells of the loss of this term. Cold, may be subscribed to at any time and any number of times; cancelling has no
     * effect on the term. The work need not look: it is cancelled.
     *
     * @return emits the loss when it happens, before another term can begin, unless this process was paused or the term
     *     was ended by force; completes empty when the leader steps down
     */
    Mono<LockLostException> lost();

    /**
     * Steps down: cancels the work, on the thread that subscribes, and gives the lock to the candidate that waits
     * longest. The candidate that stepped down then queues again, behind the others. Cold and idempotent; a term that
     * is over stays over. Cancelling does not stop what has begun.
     *
     * @return completes when the lock was given up, also when the term had been lost or its campaign was cancelled; if
     *     the store does not answer, when that is known and the release is tried again until the lease is over; never
     *     fails
     */
    Mono<Void> resign();
}
