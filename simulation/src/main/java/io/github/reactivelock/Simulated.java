package io.github.reactivelock;

import io.github.reactivelock.engine.claim.GrantInside;
import io.github.reactivelock.engine.cohort.CohortInside;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LossReason;
import java.util.function.LongSupplier;
import org.jspecify.annotations.NullMarked;
import reactor.core.scheduler.Scheduler;

/** What a simulation needs of the engine and no application does: nothing of it is left to chance. */
@NullMarked
public final class Simulated {

    private Simulated() {}

    /**
     * A client whose claims are named in a way that a second run repeats.
     *
     * @param backend the store
     * @param id begins the ids of its claims
     * @param name of the client, which others may have too
     * @return settings of a client
     */
    public static LockClientBuilder builder(LockBackend backend, String id, String name) {
        LockClientBuilder builder = LockClient.builder(backend).name(name);
        builder.idPrefix = id + ".";
        builder.jitter = 0;
        builder.others = Runnable::run;
        return builder;
    }

    /**
     * Sets the clocks of a machine that may be suspended: then its monotonic clock stands still, and its wall clock
     * goes on.
     *
     * @param builder made by {@link #builder}
     * @param timer where timers run
     * @param nanos the monotonic clock that belongs to it, in nanoseconds
     * @param wallMillis the wall clock, in milliseconds
     * @return the same builder
     */
    public static LockClientBuilder timing(
            LockClientBuilder builder, Scheduler timer, LongSupplier nanos, LongSupplier wallMillis) {
        return builder.timing(timer, nanos, wallMillis);
    }

    /**
     * The claim under which a lock is held.
     *
     * @param handle of a client made by {@link #builder}
     * @return its id
     */
    public static String claimOf(LockHandle handle) {
        return ((Handle) handle).hold.grant.claim.id();
    }

    /**
     * Whether a lock is held by a claim that the flows of a line of permits have together with others.
     *
     * @param handle of a client made by {@link #builder}
     * @return false if its flow has a claim of its own, because it wanted something else than the others
     */
    public static boolean isOfAPermitQueue(LockHandle handle) {
        return CohortInside.isOfAPermitQueue(GrantInside.owner(((Handle) handle).hold.grant));
    }

    /**
     * Whether the store said only at the release of a lock that its hold was over.
     *
     * @param handle of a client made by {@link #builder}
     * @return false while it is held, and if it was lost before
     */
    public static boolean isDisowned(LockHandle handle) {
        Hold hold = ((Handle) handle).hold;
        return !hold.isHeld() && hold.loss() == null;
    }

    /**
     * Whether a hold is over because its lease was, as far as its client knows.
     *
     * @param handle of a client made by {@link #builder}
     * @return false while it is held, and if anything else ended it
     */
    public static boolean hasExpired(LockHandle handle) {
        LockLostException loss = ((Handle) handle).hold.loss();
        return loss != null && (loss.reason() == LossReason.EXPIRED || loss.reason() == LossReason.UNREACHABLE);
    }

    /**
     * Whether a client keeps nothing of any lock.
     *
     * @param client made by {@link #builder}
     * @return true when nothing is held, waited for or being given back
     */
    public static boolean isIdle(LockClient client) {
        return client.engine.isIdle();
    }
}
