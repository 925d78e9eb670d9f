package io.github.reactivelock;

import io.github.reactivelock.state.Share;
import java.util.ArrayDeque;
import java.util.Deque;
import org.jspecify.annotations.Nullable;

/**
 * The flows of this process that want the same number of permits of one semaphore. They stand in one line, and before it
 * are lanes: as many as there are flows for, and as have room in the semaphore. Each {@link Lane} is a cohort with a claim of
 * its own, so the store counts what each has. What a flow gives back goes to the next in the line without the store's
 * hearing of it, until the budget of its lane is spent. Touched only inside its key's events.
 *
 * <p>After each event as many lanes try to get a grant as flows wait, or all that there may be.
 */
final class PermitLine implements Waiter.Line {

    private final Engine engine;
    private final KeyContext keyContext;
    private final WaitingFlows waiting;
    /** What all of them want; none while none is here. */
    private @Nullable OptionValues wanted;

    /** In the order in which they began. */
    private final Deque<Lane> trying = new ArrayDeque<>();
    /** How many lanes try or hold. */
    private int used;

    PermitLine(Engine engine, KeyContext keyContext) {
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
            wanted = waiter.options.values;
        }
        if (wanted == null || !waiter.options.values.suit(wanted)) {
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
            Waiter.Line now = waiter.line();
            if (now != null && now != this) { // it went on before it was told to leave
                now.leave(waiter);
            } else if (waiting.leave(waiter)) {
                settle();
            }
        });
    }

    /** Who began last gives up first, because it is the last in the store's queue. */
    private void settle() {
        while (trying.size() < waiting.size() && used < lanes()) {
            new Lane().start();
        }
        while (trying.size() > waiting.size()) {
            trying.getLast().withdraw();
        }
    }

    /** How many have room in the semaphore. */
    private int lanes() {
        Share share = wanted == null ? Share.WHOLE : wanted.share;
        return share.capacity() / share.units();
    }

    /** One claim and the flow that has its permits. */
    private final class Lane extends Cohort {

        Lane() {
            super(PermitLine.this.engine, PermitLine.this.keyContext, PermitLine.this.waiting);
        }

        /** Its claim has the name of the flow that no other lane tries for. */
        void start() {
            claim(waiting.at(trying.size()));
        }

        @Override
        void enter(Phase next) {
            if (phase instanceof Attempt) {
                boolean unused = trying.removeFirstOccurrence(this);
            }
            if (next instanceof Attempt) {
                trying.addLast(this);
            }
            used += (next == Phase.IDLE ? 0 : 1) - (phase == Phase.IDLE ? 0 : 1);
            super.enter(next);
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

        /** As many flows as the claims that are left are not for; who came last fails first. */
        @Override
        public void failAll(LockException failure) {
            withdraw();
            waiting.endLast(waiting.size() - trying.size(), waiter -> waiter.fail(failure));
            settle();
        }
    }
}
