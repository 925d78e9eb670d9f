package io.github.reactivelock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.github.reactivelock.engine.flow.AcquireWaiter;
import io.github.reactivelock.engine.hold.Handle;
import io.github.reactivelock.engine.hold.Hold;
import org.jspecify.annotations.NullMarked;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.Arbiter;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.IIII_Result;
import org.openjdk.jcstress.infra.results.III_Result;

/** {@code LockedWork} and {@link AcquireWaiter}: two threads that meet in one flow, which ends in one way. */
@NullMarked
final class WorkRaces {

    private WorkRaces() {}

    /** Delivered, discarded, releases. */
    @JCStressTest
    @Outcome(id = "1, 0, 1", expect = ACCEPTABLE, desc = "the work was done before the cancel")
    @Outcome(id = "0, 1, 1", expect = ACCEPTABLE, desc = "the cancel came first, and the value was dropped")
    @State
    public static class ValueAgainstCancel {

        private final RaceStage stage = new RaceStage();
        private final RaceFlow.Work work = new RaceFlow.Work();
        private final RaceFlow<String> flow = new RaceFlow<>(stage.client.withLock("k", work));

        public ValueAgainstCancel() {
            flow.subscription.request(1);
        }

        @Actor
        public void value() {
            work.emit();
        }

        @Actor
        public void cancel() {
            flow.subscription.cancel();
        }

        @Arbiter
        public void judge(III_Result seen) {
            seen.r1 = flow.values.get();
            seen.r2 = flow.discarded.get();
            seen.r3 = stage.releases.get();
        }
    }

    /** Delivered, discarded, errors, releases; 9 where the flow did not end once. */
    @JCStressTest
    @Outcome(id = "1, 0, 0, 1", expect = ACCEPTABLE, desc = "the work was done before the loss")
    @Outcome(id = "0, 1, 1, 1", expect = ACCEPTABLE, desc = "the loss came first, and the value was dropped")
    @State
    public static class ValueAgainstLoss {

        private final RaceStage stage = new RaceStage();
        private final RaceFlow.Work work = new RaceFlow.Work();
        private Hold hold;
        private final RaceFlow<String> flow = new RaceFlow<>(stage.client.withLock("k", handle -> {
            hold = ((Handle) handle).hold;
            return work;
        }));

        public ValueAgainstLoss() {
            flow.subscription.request(1);
        }

        @Actor
        public void value() {
            work.emit();
        }

        @Actor
        public void loss() {
            RaceStage.lose(hold);
        }

        @Arbiter
        public void judge(IIII_Result seen) {
            seen.r1 = flow.values.get();
            seen.r2 = flow.discarded.get();
            seen.r3 = flow.ends.get() == 1 ? flow.errors.get() : 9;
            seen.r4 = stage.releases.get();
        }
    }

    /** Subscriptions to the work, cancels of it, what is left at the store or in the client. */
    @JCStressTest
    @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "cancelled before the work was begun")
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "cancelled when the work had been begun")
    @State
    public static class GrantAgainstCancel {

        private final RaceStage stage = new RaceStage();
        private final RaceFlow.Work work = new RaceFlow.Work();
        private final RaceFlow<String> flow = new RaceFlow<>(stage.client.withLock("k", work));

        @Actor
        public void request() {
            flow.subscription.request(1);
        }

        @Actor
        public void cancel() {
            flow.subscription.cancel();
        }

        @Arbiter
        public void judge(III_Result seen) {
            seen.r1 = work.subscribed.get();
            seen.r2 = work.cancelled.get();
            seen.r3 = stage.held.size() + (stage.engine.isIdle() ? 0 : 9);
        }
    }

    /** Handles that the flow has, of those held, what is left at the store of others. */
    @JCStressTest
    @Outcome(id = "1, 1, 0", expect = ACCEPTABLE, desc = "delivered before the cancel, so the flow's to release")
    @Outcome(id = "0, 0, 0", expect = ACCEPTABLE, desc = "cancelled, and given back where it was granted")
    @State
    public static class HandleAgainstCancel {

        private final RaceStage stage = new RaceStage();
        private final RaceFlow<LockHandle> flow = new RaceFlow<>(stage.client.acquire("k"));

        @Actor
        public void request() {
            flow.subscription.request(1);
        }

        @Actor
        public void cancel() {
            flow.subscription.cancel();
        }

        @Arbiter
        public void judge(III_Result seen) {
            LockHandle handle = flow.value;
            seen.r1 = flow.values.get();
            seen.r2 = handle != null && handle.isHeld() ? 1 : 0;
            boolean isClean = handle != null || stage.engine.isIdle();
            seen.r3 = stage.held.size() - seen.r1 + (isClean ? 0 : 9);
        }
    }
}
