package io.github.reactivelock.vertx;

import io.vertx.core.Future;
import io.vertx.core.Handler;
import java.time.Duration;

/** One term of one leader. Safe for use from any thread; futures and handlers run on their caller's context. */
public interface VertxLeadership {

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
     * Sets a handler for the end of the term while the work goes on: it was lost, the leader stepped down, or the
     * campaign was stopped. Called at once if that happened already, and never if the work ended first. Each call adds
     * one handler.
     *
     * @param handler called before another term can begin, unless this process was paused or the term was ended by
     *     force
     */
    void onEnd(Handler<Void> handler);

    /**
     * Steps down: the lock goes to the candidate that waits longest, and this one queues again behind the others. The
     * work's future is ignored from then on. Idempotent; a term that is over stays over.
     *
     * @return completes when the lock was given up, also when the term had been lost
     */
    Future<Void> resign();
}
