package io.github.reactivelock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.NullMarked;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** {@link KeyContext}: what waits for a thread that a flow has taken gets another. */
@NullMarked
final class DeliveryRaces {

    private DeliveryRaces() {}

    /** How often each of two deliveries ran, as the flow before them sees it, which does not let go of its thread. */
    @JCStressTest
    @Outcome(id = "1, 1", expect = ACCEPTABLE, desc = "each once, whether it came before the timer or after")
    @State
    public static class AddAgainstRescue {

        private final RaceStage stage = new RaceStage();
        private final KeyContext line = new KeyContext(stage.engine, "k");
        private final AtomicInteger first = new AtomicInteger();
        private final AtomicInteger second = new AtomicInteger();
        private volatile boolean isRescued;

        @Actor
        public void flow(II_Result seen) {
            line.deliver(() -> {
                line.deliver(first::incrementAndGet);
                line.deliver(second::incrementAndGet);
                while (!isRescued) {
                    Thread.onSpinWait();
                }
                seen.r1 = first.get();
                seen.r2 = second.get();
            });
        }

        @Actor
        public void timer() {
            Runnable rescue = stage.timer;
            while (rescue == null) {
                Thread.onSpinWait();
                rescue = stage.timer;
            }
            rescue.run();
            isRescued = true;
        }
    }
}
