package io.github.reactivelock.engine.claim;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Signal;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * What a {@code Cohort} has at the store, which is its state. Each phase knows what to do about what comes from
 * outside, inside its key's events; what does not concern it changes nothing.
 *
 * <pre>
 * phase     is           leaves on
 * idle      IDLE         a flow joins -> trying
 * trying    an Attempt   granted, grant pushed, a grant of the cohort ahead -> held; granted but stale or too old ->
 *                        trying (asks again); too old three times -> trying (others wait) or idle; busy, refused
 *                        -> idle
 * held      a Hold       release -> held (passed on), trying (others wait), retained, or idle (with the grant given to
 *                        the cohort behind, or up); loss -> trying or idle
 * retained  a Retained   a flow joins -> held, or trying if the grant is not for it; called back, its time is over, it
 *                        may be lost, too many are kept -> idle
 * </pre>
 *
 * <p>While trying the last waiter that leaves leads to idle, and in every phase close does.
 */
public interface Phase {

    /** Nothing is at the store. */
    Phase IDLE = new Phase() {};

    /** When time may next bring anything, {@link ClaimOwner#stir} aside; asked after a tick. */
    default long quietUntil(long now) {
        return now;
    }

    /** Time has passed. */
    default void tick(long now) {}

    /** The store says that it granted a claim of this cohort. */
    default void pushed(Signal.Grant grant) {}

    /** The store says that a claim of this cohort may have lost its lock. */
    default void suspected(Signal.Suspect suspect) {}

    /** The store says that another wants what a claim of this cohort has. */
    default void recalled(String claimId) {}

    /** The grant that it has, as far as one is in its hands. */
    default @Nullable Grant grant() {
        return null;
    }

    /** A renewal of a claim of this cohort failed; it is tried again. */
    default void renewalFailed(String claimId, Throwable cause) {}

    /** The store may have something new to say to a claim that waits. */
    default void recheck() {}

    /** Signals may have been missed. */
    default void reconnected() {
        recheck();
    }

    /** The store refuses to push anything. */
    default void signalsRefused() {}

    /** Whether this goes on for the flow that is now the first to wait, if there is one. */
    default boolean suits(@Nullable LockOptions wanted) {
        return false;
    }

    /** Whether it shows that another flow has or had the lock: a hold, or an answer of the store. */
    default boolean showsTaken() {
        return this != IDLE;
    }

    /** Why nothing says that another has the lock, where this does not {@linkplain #showsTaken show} it. */
    default Throwable unanswered() {
        return new TimeoutException("the store was not asked yet");
    }

    /** Ends what the store may know of it. */
    default void giveUp() {}
}
