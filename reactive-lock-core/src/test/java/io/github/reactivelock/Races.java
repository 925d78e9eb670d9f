package io.github.reactivelock;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;
import static reactor.test.util.RaceTestUtils.race;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.slf4j.LoggerFactory;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Two things at once, thousands of times: exactly one outcome, and nothing is left. */
public abstract class Races {

    public static final int ROUNDS = 2_000;
    public static final Duration TIMEOUT = Duration.ofSeconds(1);
    private static final Logger NOISE = (Logger) LoggerFactory.getLogger("io.github.reactivelock");

    public final TestTime time = new TestTime();
    public final InMemoryLockBackend store = InMemoryLockBackend.create(time::nanos);
    public final GatedBackend gate = new GatedBackend(store);
    public final Engine engine = engine(gate);
    public final LockClient client = new LockClient(engine, LockOptions.defaults());
    public final LockClient other = new LockClient(engine(store.connect()), LockOptions.defaults());

    @BeforeAll
    public static void silence() {
        NOISE.setLevel(Level.ERROR);
    }

    @AfterAll
    public static void speak() {
        NOISE.setLevel(null);
    }

    public final Engine engine(LockBackend backend) {
        LockClientBuilder builder =
                LockClient.builder(backend).timing(time, time::nanos).workScheduler(Schedulers.immediate());
        builder.others = Runnable::run;
        return builder.engine();
    }

    /** Runs all at once, in every round with other small delays, because a race is rarely lost by starting together. */
    public static void meet(int round, Runnable... all) {
        Runnable[] delayed = new Runnable[all.length];
        for (int i = 0; i < all.length; i++) {
            Runnable task = all[i];
            int spins = round % all.length == i ? round % 300 : 0;
            delayed[i] = () -> {
                spin(spins);
                task.run();
            };
        }
        race(delayed);
    }

    public static void spin(int times) {
        for (int i = 0; i < times; i++) {
            Thread.onSpinWait();
        }
    }

    public static List<LockHandle> handles(TestSubscriber<LockHandle> flow) {
        List<LockHandle> handles = new ArrayList<>(flow.getReceivedOnNext());
        handles.addAll(flow.getReceivedOnNextAfterCancellation());
        return handles;
    }

    public static void release(List<LockHandle> handles) {
        handles.forEach(handle -> subscribe(handle.release()));
    }

    public final void assertNothingIsLeft(int round) {
        assertThat(engine.isIdle())
                .as("the engine is idle after round %s", round)
                .isTrue();
        assertThat(store.size()).as("the store is empty after round %s", round).isZero();
    }
}
