package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.subscribe;

import io.github.reactivelock.Bench;
import io.github.reactivelock.CanIgnoreReturnValue;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import reactor.test.subscriber.TestSubscriber;

/** Flows that wait in order for one lock, over a scripted store. */
public abstract class GateFlows {

    public static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);
    public static final Duration TICK = Duration.ofMillis(250);

    public final Bench bench = new Bench();
    public final ScriptedBackend store = bench.store;
    public final LockClient fifo = bench.with(options -> options.withFairness(Fairness.FIFO));

    @CanIgnoreReturnValue
    public final List<TestSubscriber<LockHandle>> flows(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> subscribe(fifo.acquire("k")))
                .toList();
    }

    public static long failed(List<TestSubscriber<LockHandle>> flows) {
        return flows.stream().filter(flow -> flow.isTerminatedError()).count();
    }
}
