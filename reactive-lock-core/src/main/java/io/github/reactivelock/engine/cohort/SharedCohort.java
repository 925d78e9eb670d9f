package io.github.reactivelock.engine.cohort;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.claim.Attempt;
import io.github.reactivelock.engine.claim.ClaimOptions;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.claim.PendingRelease;
import io.github.reactivelock.engine.claim.Phase;
import io.github.reactivelock.engine.flow.Waiter;
import io.github.reactivelock.engine.flow.WaitingFlows;
import io.github.reactivelock.engine.hold.Hold;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * A cohort whose flows share a lock, as readers do: all behind one claim, and all that come while its grant may be
 * passed on are in at once. The budget that keeps a cohort from starving other processes keeps readers from starving
 * writers: once it is spent, those who come stand in a new cohort with a claim of its own, which the store puts behind
 * a writer that waits, and the flows of this one go out. Nothing is handed from a reader to a writer here: that is the
 * store's to decide.
 *
 * <pre>
 * phase     is          leaves on
 * idle      IDLE        a flow joins -> trying
 * trying    an Attempt  granted -> sharing, with all that wait, or as many as the budget allows; as a Cohort otherwise
 * sharing   a Sharing   the last flow has left, or all have lost it -> idle
 *
 * successor none        a flow comes that the budget refuses -> the cohort of that flow, to which all go from then on
 * </pre>
 */
final class SharedCohort extends Cohort {

    private @Nullable Cohort successor;

    SharedCohort(Engine engine, KeyContext keyContext) {
        super(engine, keyContext, new WaitingFlows(keyContext));
    }

    // ---- who comes and who leaves before the lock is held

    @Override
    public void joined(Waiter waiter) {
        if (!waiter.isWaiting()) {
            super.joined(waiter);
        } else if (phase instanceof Attempt asked && !asked.suits(waiter.options)) {
            forward(waiter, new OrderedCohort(engine, keyContext));
        } else if (successor != null) {
            forward(waiter, successor);
        } else if (!(phase instanceof Sharing sharing)) {
            super.joined(waiter);
        } else if (!ClaimOptions.suit(waiter.options, sharing.grant.claim, sharing.grant.delay)) {
            forward(waiter, new OrderedCohort(engine, keyContext));
        } else if (!sharing.grant.pass(waiter.options)) {
            forward(waiter, succeeded());
        } else if (waiter.take()) {
            sharing.admit(waiter);
        } else {
            keyContext.depart();
        }
    }

    /** It may have gone on to another cohort before the order to leave this one came. */
    @Override
    void left(Waiter waiter) {
        Waiter.Queue now = waiter.queue();
        if (now == this || now == null) {
            super.left(waiter);
        } else {
            now.leave(waiter);
        }
    }

    private static void forward(Waiter waiter, Cohort to) {
        waiter.moveTo(to);
        to.joined(waiter);
    }

    private Cohort succeeded() {
        SharedCohort made = new SharedCohort(engine, keyContext);
        made.waiting.sawItTaken(waiting);
        successor = made;
        keyContext.share(made);
        return made;
    }

    // ---- who holds the lock

    /** To all that wait, for as long as the budget lasts. */
    @Override
    void handOn(Grant grant) {
        Waiter next = waiting.next(grant);
        if (next == null) {
            drop(grant);
            claim();
            return;
        }
        Sharing sharing = new Sharing(grant, next.options);
        enter(sharing);
        stir();
        while (next != null) {
            sharing.admit(next);
            LockOptions wanted = waiting.wanted();
            next = wanted != null && grant.pass(wanted) ? waiting.next(grant) : null;
        }
        if (waiting.first() != null) {
            Cohort to = succeeded();
            waiting.leaveTogether(waiter -> forward(waiter, to));
        }
    }

    @Override
    public boolean isIn(Phase asked) {
        return super.isIn(asked) || (phase instanceof Sharing sharing && sharing.holds.contains(asked));
    }

    // ---- how it ends

    @Override
    public void released(Hold released) {
        if (!(phase instanceof Sharing sharing) || !sharing.holds.contains(released)) {
            released.wasLost();
            return;
        }
        sharing.dismiss(released, null);
        if (--sharing.users > 0) {
            released.released();
            return;
        }
        enter(Phase.IDLE);
        Grant grant = sharing.grant;
        if (grant.hasCallers()) {
            grant.tellCallers(released.lossFor(LossReason.RELEASED));
        }
        engine.withdraw(grant.claim, sharing.keptUntil, released);
        claim();
    }

    /** One flow alone; the claim is given back when its work has been cancelled and no other flow is in. */
    @Override
    public void lose(Hold ended, LockLostException loss) {
        if (phase instanceof Sharing sharing) {
            sharing.lose(ended, loss);
        }
    }

    @Override
    public void lost(Grant gone, LockLostException loss) {
        if (phase instanceof Sharing sharing && sharing.grant == gone) {
            loseAll(
                    sharing,
                    hold -> new LockLostException(hold.key(), hold.fencingToken, loss.reason(), loss.getCause()));
            gone.tellCallers(loss);
        }
    }

    @Override
    void close() {
        post(() -> {
            if (phase instanceof Sharing sharing) {
                loseAll(sharing, hold -> hold.lossFor(LossReason.CLIENT_CLOSED));
            }
        });
        super.close();
    }

    /**
     * The claim is withdrawn from the store once all work has been cancelled; new flows have nothing to do with it any
     * more.
     */
    private void loseAll(Sharing sharing, Function<Hold, LockLostException> why) {
        enter(Phase.IDLE);
        for (Hold hold : List.copyOf(sharing.holds)) {
            sharing.lose(hold, why.apply(hold));
        }
        sharing.ending = engine.prepareWithdrawal(sharing.grant.claim, sharing.keptUntil);
    }

    /** A grant and the flows that have it together. */
    private final class Sharing implements Phase {

        final Grant grant;
        final Set<Hold> holds = new LinkedHashSet<>();
        private final LockOptions options;
        /** Holds, and those that were lost and whose work is being cancelled. */
        private int users;
        /** Until when the share stays in use for those that have left, or {@link Timing#NEVER}. */
        private long keptUntil = Timing.NEVER;
        /** The end of the claim, once all is lost. */
        private @Nullable PendingRelease ending;

        Sharing(Grant grant, LockOptions options) {
            this.grant = grant;
            this.options = options;
        }

        void admit(Waiter next) {
            Hold delivered = new Hold(SharedCohort.this, grant, next.options, next.heard);
            holds.add(delivered);
            users++;
            stir();
            delivered.endAtItsLongest();
            engine.owned.adopt(delivered, next.context());
            keyContext.deliver(next, delivered);
        }

        void dismiss(Hold ended, @Nullable LossReason loss) {
            long until = ended.keptUntil(loss);
            boolean isLater = keptUntil == Timing.NEVER || until - keptUntil > 0;
            keptUntil = until != Timing.NEVER && isLater ? until : keptUntil;
            holds.remove(ended);
            ended.disarm();
            engine.owned.disown(ended);
            keyContext.depart();
        }

        void lose(Hold ended, LockLostException loss) {
            dismiss(ended, loss.reason());
            ended.lose(loss, () -> post(this::cancelled));
            ended.tellLost(loss);
        }

        private void cancelled() {
            if (--users > 0) {
                return;
            }
            if (ending != null) {
                ending.ask();
                return;
            }
            enter(IDLE);
            engine.withdraw(grant.claim, keptUntil, null);
            claim();
        }

        // ---- as a phase of the cohort

        @Override
        public Grant grant() {
            return grant;
        }

        @Override
        public void tick(long now) {
            holds.forEach(Hold::look); // first, because the tick may end them
            grant.tick(now, options);
        }

        @Override
        public long quietUntil(long now) {
            long quiet = grant.quietUntil(now, options);
            for (Hold hold : holds) {
                long quietToo = hold.quietUntil(now);
                quiet = quietToo - quiet < 0 ? quietToo : quiet;
            }
            return quiet;
        }

        @Override
        public void renewalFailed(String claimId, Throwable cause) {
            List<Hold> told = new ArrayList<>(holds);
            told.forEach(hold -> hold.renewalFailed(claimId, cause));
        }

        @Override
        public void suspected(Signal.Suspect suspect) {
            if (grant.claim.id().equals(suspect.claimId())) {
                grant.suspect(suspect.reason());
            }
        }

        @Override
        public void reconnected() {
            grant.doubt();
        }

        @Override
        public boolean suits(@Nullable LockOptions wanted) {
            return true;
        }
    }
}
