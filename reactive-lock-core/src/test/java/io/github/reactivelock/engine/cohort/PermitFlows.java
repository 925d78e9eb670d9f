package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.held;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.queued;

import io.github.reactivelock.Bench;
import io.github.reactivelock.CanIgnoreReturnValue;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import reactor.test.subscriber.TestSubscriber;

/** Flows of a process that want permits of a semaphore of three, over a scripted store. */
public abstract class PermitFlows {

    public static final int PASSES = 3;

    public final Bench bench = new Bench(settings -> settings.passBudget(PASSES, Duration.ofMillis(50)));
    public final ScriptedBackend store = bench.store;
    public final LockClient one = permits(1);

    @AfterEach
    public void nothingIsLeft() {
        bench.assertNothingIsLeft();
    }

    public LockClient permits(int units) {
        return bench.sharing(bench.client, Share.permits(units, 3));
    }

    public List<TestSubscriber<LockHandle>> flows(LockClient client, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> subscribe(client.acquire("k")))
                .toList();
    }

    public List<TestSubscriber<LockHandle>> flows(int count) {
        return flows(one, count);
    }

    @CanIgnoreReturnValue
    public Claim grant(long number) {
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(granted(asked.claim(), number));
        return asked.claim();
    }

    public void grant(long... numbers) {
        for (long number : numbers) {
            grant(number);
        }
    }

    @CanIgnoreReturnValue
    public Claim queue() {
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(queued());
        return asked.claim();
    }

    public static void release(List<TestSubscriber<LockHandle>> flows) {
        flows.forEach(flow -> subscribe(held(flow).release()));
    }

    public static void release(TestSubscriber<LockHandle> flow) {
        release(List.of(flow));
    }

    public static List<Integer> served(List<TestSubscriber<LockHandle>> flows) {
        return flows.stream().map(flow -> flow.getReceivedOnNext().size()).toList();
    }
}
