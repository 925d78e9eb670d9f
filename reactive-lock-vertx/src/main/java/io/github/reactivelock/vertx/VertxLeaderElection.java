package io.github.reactivelock.vertx;

import io.github.reactivelock.election.ElectionState;
import io.vertx.core.Future;
import io.vertx.core.streams.ReadStream;
import java.util.function.Function;

/**
 * A candidate in an election, with futures; what it does is that of
 * {@link io.github.reactivelock.election.LeaderElection}. Safe for use from any thread; the work and all futures run on
 * their caller's context.
 *
 * <p>A future cannot be cancelled. Work whose term ends goes on unless it looks at {@link VertxLeadership#isLeader()}
 * before each act, or acts on the end in {@link VertxLeadership#onEnd}; the resource should refuse its term.
 */
public interface VertxLeaderElection {

    /**
     * Campaigns for ever: leads by calling the work, and campaigns again when the work's future succeeded, when the
     * leader stepped down, and when the lock was lost or not available.
     *
     * @param work what a leader does, called at the beginning of each term on a duplicate of the caller's context; the
     *     term lasts for as long as its future
     * @return completes after {@link #stop()}; fails with an error of the work, after the lock was given up, with
     *     {@link io.github.reactivelock.LockClientClosedException}, and with {@link IllegalStateException} if it
     *     campaigns already
     */
    Future<Void> lead(Function<VertxLeadership, Future<Void>> work);

    /**
     * Ends the campaign and gives the lock up at once. Idempotent; {@link #lead} may be called again afterwards.
     *
     * @return completes when the work has got its signal to end; the release goes on by itself
     */
    Future<Void> stop();

    /**
     * The state of this candidate.
     *
     * @return the present one
     */
    ElectionState state();

    /**
     * The states of this candidate: the present one and what follows. A stream that is slow gets the newest.
     *
     * @return states on the context of this method's caller, without end
     */
    ReadStream<ElectionState> states();

    /**
     * Tells who leads, whether this candidate campaigns or not. The watch begins when a handler is set and ends when it
     * is set to null.
     *
     * @return {@code Following} and {@code Seeking} on the context of this method's caller; its exception handler hears
     *     {@link io.github.reactivelock.LockClientClosedException}
     */
    ReadStream<ElectionState> observe();
}
