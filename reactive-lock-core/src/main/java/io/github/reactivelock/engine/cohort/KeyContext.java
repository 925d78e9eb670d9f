package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.engine.flow.WaitingFlows;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.engine.store.Services;
import io.github.reactivelock.engine.user.HeardRequest;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * All flows of a client that have to do with one key, in any cohort. The cohorts share this mailbox, so that a lock can
 * go from one to the next within one event, and its {@link Deliveries}.
 */
final class KeyContext extends Deliveries implements WaitingFlows.Key {

    private static final AtomicReferenceFieldUpdater<KeyContext, Cohort> COHORT =
            AtomicReferenceFieldUpdater.newUpdater(KeyContext.class, Cohort.class, "cohort");

    private static final AtomicReferenceFieldUpdater<KeyContext, Cohort> SHARING =
            AtomicReferenceFieldUpdater.newUpdater(KeyContext.class, Cohort.class, "sharing");

    private static final AtomicReferenceFieldUpdater<KeyContext, Waiter.Queue> PERMITS =
            AtomicReferenceFieldUpdater.newUpdater(KeyContext.class, Waiter.Queue.class, "permits");

    private final Engine engine;

    /** Flows that keep this context in the engine's table; guarded by the table. */
    int members;

    private volatile @Nullable Cohort cohort;
    /** Most keys never have one. */
    private volatile @Nullable Cohort sharing;

    private volatile Waiter.@Nullable Queue permits;

    /**
     * None until an {@link OrderedCohort} gets the lock in its turn, which most never see; touched only inside events.
     */
    @Nullable
    ClaimBatcher batcher;

    /**
     * The claim that no flow needs, while it is the phase of a cohort, or else the last hold under a claim that may be
     * kept; touched only inside events.
     */
    @Nullable
    Phase recallable;

    KeyContext(Engine engine, String key) {
        super(key);
        this.engine = engine;
    }

    @Override
    Services services() {
        return engine.services;
    }

    /** Called by the table only. */
    KeyContext joined() {
        members++;
        return this;
    }

    /** Where flows with {@link Fairness#COHORT} stand together. */
    Cohort together() {
        Cohort made = cohort;
        if (made == null) {
            COHORT.compareAndSet(this, null, new Cohort(engine, this, new WaitingFlows(this)));
            return together();
        }
        return made;
    }

    /** Where flows that share the lock stand together. */
    Cohort sharing(Supplier<Cohort> fresh) {
        Cohort made = sharing;
        if (made == null) {
            SHARING.compareAndSet(this, null, fresh.get());
            return sharing(fresh);
        }
        return made;
    }

    /** Where flows that want permits of a semaphore stand together. */
    Waiter.Queue permits(Supplier<Waiter.Queue> fresh) {
        Waiter.Queue made = permits;
        if (made == null) {
            PERMITS.compareAndSet(this, null, fresh.get());
            return permits(fresh);
        }
        return made;
    }

    /** A flow has it of which the store could not tell a try of this client whether it is in. */
    boolean isInUse() {
        return recallable instanceof Hold inUse && inUse.isHeld();
    }

    /** From now on they stand in another; inside an event. */
    void share(Cohort other) {
        sharing = other;
    }

    void stay() {
        engine.stay(this);
    }

    @Override
    public void depart() {
        engine.depart(this);
    }

    // ---- grants and releases, which follow one another on one thread

    /**
     * What follows the grant may be another wait and no code of a user, which needs no thread of the work scheduler.
     */
    void deliver(Waiter next, Hold hold) {
        HeardRequest heard = next.heard;
        if (heard != null) {
            heard.acquired(hold.fencingToken, Duration.ofNanos(hold.since - next.since()));
        }
        if (next.wantsMore()) {
            if (heard != null) {
                heard.tellLater();
            }
            next.granted(new Handle(hold));
        } else {
            deliver(hold.handleOf(next));
        }
    }
}
