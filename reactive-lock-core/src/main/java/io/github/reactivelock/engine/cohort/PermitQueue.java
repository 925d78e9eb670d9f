package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.LockException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.engine.claim.Attempt;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.PendingRelease;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.engine.flow.WaitingFlows;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.engine.user.Mailbox;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The flows of this process that want the same number of permits of one semaphore. They stand in one queue, and before
 * it are lanes: as many as there are flows for, and as have room in the semaphore. Each {@link Lane} is a cohort with a
 * claim of its own, so the store counts what each has. What a flow gives back goes to the next in the queue without
 * asking the store, until the budget of its lane is spent. Touched only inside its key's events.
 *
 * <p>After each event as many lanes try to get a grant as flows wait, or all that there may be. A lane that no flow
 * wants any more counts until the store has confirmed its end, so that this process never has more permits there than
 * flows that want them. A claim that fails ends the wait of one flow, as it would if each had its own, and of all where
 * no other claim is left.
 */
final class PermitQueue implements Waiter.Queue {

    /**
     * Nanoseconds after a claim that failed before another is made in its place, so that one refusal costs one flow.
     */
    private static final long PAUSE = Duration.ofMillis(500).toNanos();

    private final Engine engine;
    private final KeyContext keyContext;
    private final WaitingFlows waiting;
    /** What all of them want; none while none is here. */
    private @Nullable LockOptions wanted;

    /** In the order in which they began. */
    private final Deque<Lane> trying = new ArrayDeque<>();
    /** How many lanes try or hold. */
    private int used;
    /** How many lanes that no flow wants are still known to the store. */
    private int leaving;
    /** How many lanes have failed a moment ago. */
    private int resting;

    PermitQueue(Engine engine, KeyContext keyContext) {
        this.engine = engine;
        this.keyContext = keyContext;
        this.waiting = new WaitingFlows(keyContext);
    }

    @Override
    public void join(Waiter waiter) {
        keyContext.post(waiter);
    }

    /** One that wants something else than the others has a claim of its own. */
    @Override
    public void joined(Waiter waiter) {
        if (!waiter.isWaiting()) {
            keyContext.depart();
            return;
        }
        if (used == 0 && waiting.first() == null) {
            wanted = waiter.options;
        }
        if (wanted == null || !ClaimOptions.suit(waiter.options, wanted)) {
            Cohort own = new OrderedCohort(engine, keyContext);
            waiter.moveTo(own);
            own.joined(waiter);
            return;
        }
        waiting.add(waiter);
        settle();
    }

    @Override
    public void leave(Waiter waiter) {
        keyContext.post(() -> {
            Waiter.Queue now = waiter.queue();
            if (now != null && now != this) { // its flow went on before this order to leave came
                now.leave(waiter);
            } else if (waiting.leave(waiter)) {
                settle();
            }
        });
    }

    @Override
    public void timedOut(Waiter waiter) {
        keyContext.post(() -> {
            Waiter.Queue now = waiter.queue();
            if (now != null && now != this) {
                now.timedOut(waiter);
            } else if (waiter.stopInTime()) {
                Throwable unanswered = isTaken() || waiting.sawItTaken(waiter) ? null : unanswered(waiter);
                if (waiting.leave(waiter)) {
                    settle();
                }
                waiter.tellTimedOut(unanswered);
            }
        });
    }

    /** Who began last gives up first, because it is the last in the store's queue. */
    private void settle() {
        while (trying.size() + leaving < waiting.size() && mayTry()) {
            new Lane().start();
        }
        while (trying.size() > waiting.size()) {
            trying.getLast().withdraw();
        }
    }

    private boolean mayTry() {
        return used == 0 ? leaving < lanes() : used + leaving + resting < lanes();
    }

    private void pauseOneLane() {
        resting++;
        goOnPausing();
    }

    private void goOnPausing() {
        engine.services.timing.after(PAUSE, () -> keyContext.post(this::rested));
    }

    /** Where the store has not shown that it serves this queue, the claims that it has not answered decide for all. */
    private void rested() {
        if (used == 0 || isServed()) {
            resting--;
            settle();
        } else {
            goOnPausing();
        }
    }

    private boolean isServed() {
        return used > trying.size() || isQueued();
    }

    private boolean isQueued() {
        return trying.stream().anyMatch(Lane::isQueued);
    }

    /**
     * The store has queued a claim, or the flows of this process have all permits. One of them alone says nothing of
     * the others.
     */
    private boolean isTaken() {
        return used - trying.size() >= lanes() || isQueued();
    }

    /** Where no lane tries, there is one that the store has not let go yet, or that it refused a moment ago. */
    private Throwable unanswered(Waiter waiter) {
        Lane first = trying.peekFirst();
        return first == null
                ? engine.services.gate.silence(keyContext.key, engine.services.timing.now() - waiter.since())
                : first.phase.unanswered();
    }

    /** The store has confirmed that a lane has left, or has not answered in time. */
    private final class Leaving implements PendingRelease.Outcome, Mailbox.Event {

        Leaving() {
            leaving++;
            keyContext.stay();
        }

        @Override
        public void released() {
            keyContext.post(this);
        }

        @Override
        public void wasOver() {
            keyContext.post(this);
        }

        @Override
        public void unanswered(Throwable failure) {
            keyContext.post(this);
        }

        @Override
        public void handle() {
            leaving--;
            settle();
            keyContext.depart();
        }
    }

    /** How many have room in the semaphore. */
    private int lanes() {
        Share share = wanted == null ? Share.WHOLE : wanted.share();
        return share.capacity() / share.units();
    }

    /** One claim and the flow that has its permits. */
    final class Lane extends Cohort {

        private boolean failed;

        Lane() {
            super(PermitQueue.this.engine, PermitQueue.this.keyContext, PermitQueue.this.waiting);
        }

        /** Its claim has the name of the flow that no other lane tries for. */
        void start() {
            claim(waiting.at(trying.size()));
        }

        @Override
        void enter(Phase next) {
            Phase before = phase;
            super.enter(next);
            if (before instanceof Attempt) {
                trying.removeFirstOccurrence(this);
            }
            if (next instanceof Attempt) {
                trying.addLast(this);
            }
            used += (next == Phase.IDLE ? 0 : 1) - (before == Phase.IDLE ? 0 : 1);
        }

        @Override
        boolean showsTaken() {
            return isTaken();
        }

        @Override
        void claim() {
            settle();
        }

        @Override
        void handOn(Grant grant) {
            super.handOn(grant);
            settle();
        }

        boolean isQueued() {
            return phase instanceof Attempt asked && asked.isQueued();
        }

        @Override
        public void giveBack(Claim unwanted) {
            if (failed) {
                super.giveBack(unwanted);
            } else {
                engine.withdraw(unwanted, Timing.NEVER, new Leaving());
            }
        }

        /** The flow that came last fails; with the last claim all fail, and when the client closes. */
        @Override
        public void failAll(Supplier<? extends LockException> failure) {
            failed = true;
            withdraw();
            boolean isLast = used == 0 || engine.isClosed();
            waiting.endLast(isLast ? waiting.size() : 1, waiter -> waiter.fail(failure.get()));
            if (!isLast) {
                pauseOneLane();
            }
            settle();
        }

        @Override
        public void failThoseOf(Attempt asked, IllegalStateException why) {
            failAll(() -> new LockUnavailableException(keyContext.key, "acquired", why));
        }
    }
}
