package io.github.reactivelock.engine.cohort;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Door;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.IntPredicate;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Readers, writers and permits on real threads, that come, wait, give up and cancel at random. */
class SharedStressTest {

    private static final int FLOWS = 10_000;
    private static final int WHOLE = 1_000_000;
    private static final int CAPACITY = 8;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final Engine first = engine();
    private final Engine second = engine();
    private final Map<String, AtomicInteger> inside = new ConcurrentHashMap<>();
    private final AtomicInteger broken = new AtomicInteger();
    private final AtomicInteger together = new AtomicInteger();
    private final AtomicInteger worked = new AtomicInteger();

    /** A thread that gets no turn while it asks the store is no silent store. */
    private Engine engine() {
        return Door.engine(
                LockClient.builder(store.connect()).commandTimeout(PATIENCE).passBudget(20, Duration.ofMillis(2)));
    }

    @Test
    void tenThousandFlowsKeepTheRuleAndLeaveNothing() {
        awaitEnd(Flux.range(0, FLOWS).flatMap(i -> flow(i).subscribeOn(Schedulers.parallel()), 64));

        assertThat(broken).hasValue(0);
        assertThat(together).as("flows that met others").hasValueGreaterThan(100);
        assertThat(worked.get()).as("flows that got their lock").isBetween(1_000, FLOWS);
        awaitEnd(Mono.delay(Duration.ofMillis(2))
                .repeat(() -> !(first.isIdle() && second.isIdle() && store.size() == 0)));
    }

    private static void awaitEnd(Flux<?> flow) {
        StepVerifier.create(flow.then()).expectComplete().verify(PATIENCE);
    }

    private Mono<Void> flow(int i) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int kind = random.nextInt(10);
        if (kind < 1) {
            return ways(client(i), "rw" + random.nextInt(3), WHOLE, now -> now == WHOLE);
        }
        if (kind < 7) {
            return ways(client(i).shared(), "rw" + random.nextInt(3), 1, now -> now < WHOLE);
        }
        int permits = 1 + random.nextInt(3);
        return ways(client(i).permits(permits, CAPACITY), "semaphore", permits, now -> now <= CAPACITY);
    }

    private Mono<Void> ways(LockClient client, String key, int units, IntPredicate isRight) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        Mono<Void> work = random.nextBoolean()
                ? Mono.empty()
                : Mono.delay(micros(random.nextInt(300))).then();
        Mono<Void> entered = entered(key, units, isRight, work);
        return switch (random.nextInt(4)) {
            case 0 -> client.withLock(key, entered).take(micros(random.nextInt(3_000)));
            case 1 ->
                client.with(LockOptions.defaults().withWaitTimeout(micros(1 + random.nextInt(3_000))))
                        .withLock(key, entered)
                        .onErrorComplete(failure -> failure instanceof LockTimeoutException
                                || failure instanceof LockUnavailableException); // so soon that no answer came
            case 2 -> client.tryAcquire(key).flatMap(held -> entered.then(held.release()));
            default -> client.withLock(key, entered);
        };
    }

    /** A cancel may meet a completion that is under way on another thread, and whichever comes first is the end. */
    private Mono<Void> entered(String key, int units, IntPredicate isRight, Mono<Void> work) {
        AtomicInteger here = inside.computeIfAbsent(key, k -> new AtomicInteger());
        return Mono.defer(() -> {
            AtomicBoolean left = new AtomicBoolean();
            Runnable leave = () -> {
                if (left.compareAndSet(false, true)) {
                    here.addAndGet(-units);
                }
            };
            int now = here.addAndGet(units);
            if (!isRight.test(now)) {
                broken.incrementAndGet();
            }
            if (now > units) {
                together.incrementAndGet();
            }
            worked.incrementAndGet();
            return work.doOnTerminate(leave).doFinally(signal -> leave.run()); // after the cancel, too
        });
    }

    private LockClient client(int i) {
        LockOptions options = LockOptions.defaults().withFairness(i % 3 == 0 ? Fairness.FIFO : Fairness.COHORT);
        return Door.client(i % 2 == 0 ? first : second, options);
    }

    private static Duration micros(int micros) {
        return Duration.ofNanos(micros * 1_000L);
    }
}
