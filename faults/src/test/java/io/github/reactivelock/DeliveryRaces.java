package io.github.reactivelock;

import static org.openjdk.jcstress.annotations.Expect.ACCEPTABLE;

import io.github.reactivelock.engine.cohort.DeliveriesInside;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.stream.IntStream;
import org.jspecify.annotations.NullMarked;
import org.openjdk.jcstress.annotations.Actor;
import org.openjdk.jcstress.annotations.JCStressTest;
import org.openjdk.jcstress.annotations.Outcome;
import org.openjdk.jcstress.annotations.State;
import org.openjdk.jcstress.infra.results.II_Result;

/** {@link DeliveriesInside}: what waits for a thread that a flow has taken gets another. */
@NullMarked
final class DeliveryRaces {

    private DeliveryRaces() {}

    /** How many deliveries ran, and how many of them once, as the flow before them sees it, which keeps its thread. */
    @JCStressTest
    @Outcome(id = "20, 20", expect = ACCEPTABLE, desc = "each once, whether it came before the timer or after")
    @State
    @SuppressWarnings("ThreadPriorityCheck") // else a thread that waits keeps the processor that the other needs
    public static class AddAgainstRescue {

        private final RaceStage stage = new RaceStage();
        private final DeliveriesInside line = new DeliveriesInside(stage.engine, "k");
        private final AtomicIntegerArray runs = new AtomicIntegerArray(20);
        private volatile boolean isRescued;

        @Actor
        public void flow(II_Result seen) {
            line.deliver(() -> {
                IntStream.range(0, runs.length()).forEach(each -> line.deliver(() -> runs.incrementAndGet(each)));
                while (!isRescued) {
                    Thread.yield();
                }
                IntStream.range(0, runs.length()).forEach(each -> {
                    seen.r1 += runs.get(each);
                    seen.r2 += runs.get(each) == 1 ? 1 : 0;
                });
            });
        }

        @Actor
        public void timer() {
            Runnable rescue = stage.timer;
            while (rescue == null) {
                Thread.yield();
                rescue = stage.timer;
            }
            rescue.run();
            isRescued = true;
        }
    }
}
