package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.test.subscriber.TestSubscriber;

/** Whatever becomes of claims at a store that is late, none of them is counted when all is over. */
class WindowChaosTest extends GateFlows {

    private static final int STEPS = 4_000;

    private final Window window = bench.engine.services.gate.window;
    private final List<LockClient> clients = List.of(
            bench.client,
            fifo,
            bench.with(options -> options.withLease(Duration.ofMillis(900)).withFairness(Fairness.FIFO)),
            bench.with(options -> options.withWaitTimeout(Duration.ofMillis(700))));
    private final List<TestSubscriber<LockHandle>> flows = new ArrayList<>();
    private final List<Asked<ClaimResult>> asked = new ArrayList<>();

    static Stream<Long> seeds() {
        return new Random().longs(20).boxed();
    }

    @ParameterizedTest
    @MethodSource("seeds")
    void nothingStaysCounted(long seed) {
        Random chance = new Random(seed);
        for (int i = 1; i <= STEPS; i++) {
            asked.addAll(store.claims);
            store.claims.clear();
            step(chance, i);
            assertThat(window.unanswered()).isBetween(0, Window.MOST);
        }
        store.holdsBack = claim -> false;
        store.connect();
        flows.forEach(flow -> {
            flow.cancel();
            flow.getReceivedOnNext().forEach(handle -> subscribe(handle.release()));
        });
        IntStream.range(0, 30).forEach(i -> bench.time.advance(Duration.ofSeconds(1)));

        assertThat(bench.engine.isIdle()).isTrue();
        assertThat(window.unanswered()).isZero();
        assertThat(IntStream.rangeClosed(0, Window.MOST)
                        .filter(i -> window.lets())
                        .count())
                .isEqualTo(window.width());
    }

    private void step(Random chance, int number) {
        LockClient client = clients.get(chance.nextInt(clients.size()));
        String key = "k" + chance.nextInt(5);
        Asked<ClaimResult> one = asked.isEmpty() ? null : asked.get(chance.nextInt(asked.size()));
        switch (chance.nextInt(15)) {
            case 0, 1, 2 -> flows.add(subscribe(client.acquire(key)));
            case 3 -> flows.add(subscribe(client.tryAcquire(key)));
            case 4 ->
                flows.stream()
                        .skip(chance.nextInt(flows.size() + 1))
                        .findFirst()
                        .ifPresent(TestSubscriber::cancel);
            case 5 -> bench.time.advance(Duration.ofMillis(chance.nextInt(100)));
            case 6 -> bench.time.advance(chance.nextInt(20) == 0 ? COMMAND_TIMEOUT.plus(TICK) : TICK);
            case 7 ->
                store.holdsBack = chance.nextBoolean()
                        ? claim -> false
                        : claim -> claim.key().equals(key);
            case 8 -> store.push(new Signal.Recheck(key));
            case 9 -> {
                if (chance.nextInt(15) == 0) {
                    store.disconnect();
                }
            }
            case 10 -> store.connect();
            default -> {
                if (one != null) {
                    answer(one, chance, number);
                }
            }
        }
    }

    /** Perhaps once more to a question that was answered before. */
    private static void answer(Asked<ClaimResult> one, Random chance, int number) {
        switch (chance.nextInt(5)) {
            case 0, 1 -> one.answer(ScriptedBackend.queued());
            case 2 -> one.answer(ScriptedBackend.granted(one.claim(), number));
            case 3 -> one.answer(new ClaimResult.Busy());
            default -> one.fail();
        }
    }
}
