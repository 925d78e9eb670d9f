package io.github.reactivelock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.github.reactivelock.engine.hold.ContextHolds;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Hold;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.jspecify.annotations.Nullable;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.III_Result;
import org.openjdk.jcstress.infra.results.II_Result;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** {@link Hold}: entered anew, left and lost, two of these at a time. */
@NullMarked
final class HoldRaces {

    private HoldRaces() {}

    /** A handle that joined and is held, releases. */
    @JCStressTest
    @Outcome(id = "1, 0", expect = ACCEPTABLE, desc = "joined before the last one left, so the hold goes on")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the last one left, so there is nothing to join")
    @State
    public static class ReenterAgainstLeave {

        private final RaceStage stage = new RaceStage();
        private final Handle outer = stage.hold();
        private volatile @Nullable Handle joined;

        @Actor
        public void reenter() {
            joined = outer.hold.join(outer.hold.options);
        }

        @Actor
        public void giveBack() {
            outer.giveBack();
        }

        @Arbiter
        public void judge(II_Result seen) {
            Handle handle = joined;
            seen.r1 = handle == null ? 0 : handle.isHeld() ? 1 : 9;
            seen.r2 = stage.releases.get();
        }
    }

    /**
     * What the release came to, what the signal of the loss came to (1: none; 2: the loss; else not once), releases.
     */
    @JCStressTest
    @Outcome(id = "1, 1, 1", expect = ACCEPTABLE, desc = "released")
    @Outcome(id = "2, 2, 1", expect = ACCEPTABLE, desc = "lost")
    @Outcome(
            id = "2, 1, 1",
            expect = ACCEPTABLE,
            desc = "left, so no loss was signalled, but lost before the release: that is what it came to")
    @State
    public static class LeaveAgainstLoss {

        private final RaceStage stage = new RaceStage();
        private final Handle handle = stage.hold();
        private int released;
        private final AtomicInteger signalled = new AtomicInteger();

        public LeaveAgainstLoss() {
            Disposable unused = handle.hold
                    .lost()
                    .subscribe(
                            loss -> signalled.addAndGet(2),
                            failure -> signalled.addAndGet(9),
                            () -> signalled.compareAndSet(0, 1));
        }

        @Actor
        public void giveBack() {
            handle.giveBack(failure -> released += failure == null ? 1 : 2);
        }

        @Actor
        public void loss() {
            RaceStage.lose(handle.hold);
        }

        @Arbiter
        public void judge(III_Result seen) {
            seen.r1 = released;
            seen.r2 = signalled.get();
            seen.r3 = stage.releases.get();
        }
    }

    /** How often a subscriber to the states heard of the loss, and of the end. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "asked before or after: once each")
    @State
    public static class WatchAgainstLoss {

        private final RaceStage stage = new RaceStage();
        private final Handle handle = stage.hold();
        private final AtomicInteger losses = new AtomicInteger();
        private final AtomicInteger ends = new AtomicInteger();

        @Actor
        public void watch() {
            Disposable unused = handle.states()
                    .subscribe(
                            state -> losses.addAndGet(state instanceof HoldState.Lost ? 1 : 0),
                            failure -> ends.addAndGet(9),
                            ends::incrementAndGet);
        }

        @Actor
        public void loss() {
            RaceStage.lose(handle.hold);
        }

        @Arbiter
        public void judge(II_Result seen) {
            seen.r1 = losses.get();
            seen.r2 = ends.get();
        }
    }

    /** Under which grant the work was begun, or 0, and whether it was told of a loss. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "the work was begun and then told of the loss")
    @Outcome(id = "0, 1", expect = ACCEPTABLE, desc = "the flow joined and was told before its work was begun")
    @Outcome(id = "2, 0", expect = ACCEPTABLE, desc = "it came too late to join, and waited for the next grant")
    @State
    public static class EnterAgainstLoss {

        private final RaceStage stage = new RaceStage();
        private final Handle outer = stage.hold();
        private volatile int begunUnder;
        private final RaceFlow<Object> flow = new RaceFlow<>(stage.client
                .withLock("k", handle -> {
                    begunUnder = RaceStage.grant(handle);
                    return Mono.never();
                })
                .contextWrite(context -> new ContextHolds(outer, null, 1).in(context)));

        @Actor
        public void enter() {
            flow.subscription.request(1);
        }

        @Actor
        public void loss() {
            RaceStage.lose(outer.hold);
        }

        @Arbiter
        public void judge(II_Result seen) {
            seen.r1 = begunUnder;
            seen.r2 = flow.errors.get();
        }
    }
}
