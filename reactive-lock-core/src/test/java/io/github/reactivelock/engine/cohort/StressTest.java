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
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;

/** Many flows on real threads, that come, wait, give up, fail and cancel at random. */
class StressTest {

    private static final int KEYS = 5;
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final Engine first = engine();
    private final Engine second = engine();

    private final Map<String, AtomicReference<Object>> inside = new ConcurrentHashMap<>();
    private final Map<String, AtomicLong> lastTokens = new ConcurrentHashMap<>();
    private final AtomicInteger overlaps = new AtomicInteger();
    private final AtomicInteger stale = new AtomicInteger();
    private final AtomicInteger worked = new AtomicInteger();
    private volatile boolean keeps;

    /** A thread that gets no turn while it asks the store is no silent store. */
    private Engine engine() {
        return Door.engine(LockClient.builder(store.connect()).commandTimeout(PATIENCE));
    }

    /** With locks that stay too, which recalls from the other client meet at any moment. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void tenThousandFlowsThatComeAndGoNeverOverlapAndLeaveNothing(boolean keep) {
        keeps = keep;
        awaitEnd(Flux.range(0, 10_000).flatMap(i -> flow(i).subscribeOn(Schedulers.parallel()), 64));

        assertThat(overlaps).hasValue(0);
        assertThat(stale).as("tokens that did not rise").hasValue(0);
        assertThat(worked.get()).as("flows that got their lock").isBetween(1_000, 10_000);
        awaitEnd(Mono.delay(Duration.ofMillis(2))
                .repeat(() -> !(first.isIdle() && second.isIdle() && store.size() == 0)));
    }

    private static void awaitEnd(Flux<?> flow) {
        StepVerifier.create(flow.then()).expectComplete().verify(PATIENCE);
    }

    @Test
    void noUpdateOfAnUnguardedCounterIsLost() {
        int[] counter = {0};

        awaitEnd(Flux.range(0, 4_000)
                .flatMap(
                        i -> client(i)
                                .withLock("counter", Mono.fromRunnable(() -> counter[0]++))
                                .subscribeOn(Schedulers.parallel()),
                        32));

        assertThat(counter[0]).isEqualTo(4_000);
    }

    private Mono<Void> flow(int i) {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        String key = "k" + random.nextInt(KEYS);
        Mono<Void> work = random.nextBoolean()
                ? Mono.empty()
                : Mono.delay(micros(random.nextInt(200))).then();
        Mono<Void> locked = client(i).withLock(key, held -> entered(key, held.fencingToken(), work));
        return switch (random.nextInt(4)) {
            case 0 -> locked.take(micros(random.nextInt(3_000)));
            case 1 ->
                client(i)
                        .with(LockOptions.defaults().withWaitTimeout(micros(1 + random.nextInt(3_000))))
                        .withLock(key, held -> entered(key, held.fencingToken(), work))
                        .onErrorComplete(failure -> failure instanceof LockTimeoutException
                                || failure instanceof LockUnavailableException); // so soon that no answer came
            case 2 ->
                client(i)
                        .tryAcquire(key)
                        .flatMap(held -> entered(key, held.fencingToken(), work).then(held.release()));
            default -> locked;
        };
    }

    /**
     * Anything that is inside at the same time, or was inside with a higher token, is counted. A cancel may meet a
     * completion that is under way on another thread, and whichever comes first is the end.
     */
    private Mono<Void> entered(String key, long token, Mono<Void> work) {
        AtomicReference<Object> here = inside.computeIfAbsent(key, k -> new AtomicReference<>());
        AtomicLong last = lastTokens.computeIfAbsent(key, k -> new AtomicLong());
        return Mono.defer(() -> {
            Object me = new Object();
            Runnable leave = () -> here.compareAndSet(me, null);
            if (here.getAndSet(me) != null) {
                overlaps.incrementAndGet();
            }
            if (last.getAndSet(token) >= token) {
                stale.incrementAndGet();
            }
            worked.incrementAndGet();
            return work.doOnTerminate(leave).doFinally(signal -> leave.run()); // after the cancel, too
        });
    }

    private LockClient client(int i) {
        boolean inOrder = i % 3 == 0;
        LockOptions plain = LockOptions.defaults().withFairness(inOrder ? Fairness.FIFO : Fairness.COHORT);
        LockOptions options = keeps && !inOrder ? plain.withRetention(Duration.ofMillis(1 + i % 40)) : plain;
        return Door.client(i % 2 == 0 ? first : second, options);
    }

    private static Duration micros(int micros) {
        return Duration.ofNanos(micros * 1_000L);
    }
}
