package io.github.reactivelock.engine.store;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.RepeatedTest;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Whatever becomes of a question, it is not counted any more when it is over; one in 4,096 would shut the gate in time.
 */
class GateCountsTest {

    private static final Duration LIMIT = Duration.ofMinutes(5);
    private static final int FLOWS = 10_000;

    private int leaving;

    @RepeatedTest(2)
    void nothingStaysCountedWhateverTheStoreDoes() {
        Capricious store = new Capricious();
        LockOptions options = LockOptions.defaults().withLease(Duration.ofMillis(500));
        LockClient together = LockClient.builder(store.backend())
                .commandTimeout(Duration.ofMillis(100))
                .options(options)
                .build();
        Engine engine = Bench.engine(together);
        LockClient inOrder = together.with(options.withFairness(Fairness.FIFO));
        Disposable flaps = Flux.interval(Duration.ofMillis(3), Schedulers.parallel())
                .onBackpressureDrop()
                .subscribe(tick -> store.connected =
                        !store.whimsical || ThreadLocalRandom.current().nextInt(4) != 0);

        Long ended = Flux.range(0, FLOWS)
                .flatMap(i -> flow(i % 2 == 0 ? together : inOrder, i), 1_000)
                .count()
                .block(LIMIT);
        store.whimsical = false;
        eventually(() -> store.connected && engine.isIdle());
        flaps.dispose();

        assertThat(ended).isEqualTo(FLOWS);
        eventually(engine.services.gate::isOpen);
        eventually(() -> asManyLeaveAsTheWindowIsWide(engine.services.gate));
        together.close().block(LIMIT);
    }

    private static Mono<Integer> flow(LockClient client, int number) {
        String key = "k" + number % 50;
        Mono<Integer> flow = number % 7 == 0
                ? client.tryAcquire(key).flatMap(LockHandle::release).thenReturn(number)
                : client.withLock(key, Mono.just(number));
        Mono<Integer> limited = number % 3 == 0 ? flow.timeout(Duration.ofMillis(1 + number % 20)) : flow;
        return limited.onErrorReturn(number).defaultIfEmpty(number).subscribeOn(Schedulers.parallel());
    }

    /** Late answers may still widen the window; what stays counted would keep the number below the width for ever. */
    private boolean asManyLeaveAsTheWindowIsWide(Gate gate) {
        while (gate.lets()) {
            leaving++;
        }
        return leaving >= gate.window.width();
    }

    private static void eventually(BooleanSupplier condition) {
        long limit = System.nanoTime() + LIMIT.toNanos();
        while (!condition.getAsBoolean()) {
            assertThat(System.nanoTime() - limit).isNegative();
            Thread.onSpinWait();
        }
    }

    /** A store in memory that answers at once, later, never, or with an error, and has a connection now and then. */
    private static final class Capricious {

        private final LockBackend store = InMemoryLockBackend.create();
        private volatile boolean connected;
        private volatile boolean whimsical = true;

        LockBackend backend() {
            return (LockBackend) Proxy.newProxyInstance(
                    LockBackend.class.getClassLoader(), new Class<?>[] {LockBackend.class}, (proxy, verb, args) -> {
                        String name = verb.getName();
                        if (name.equals("isReady")) {
                            return connected;
                        } else if (name.equals("ready")) {
                            return opening();
                        }
                        Object answer = answer(verb, args);
                        return whimsical && answer instanceof Mono<?> mono && !name.equals("close")
                                ? whim(mono)
                                : answer;
                    });
        }

        private Object answer(Method verb, Object[] args) throws Throwable {
            try {
                return verb.invoke(store, args);
            } catch (InvocationTargetException e) {
                throw e.getCause();
            }
        }

        private Mono<Void> opening() {
            Mono<Void> opened = Mono.fromRunnable(() -> connected = true);
            return switch (ThreadLocalRandom.current().nextInt(3)) {
                case 0 -> opened;
                case 1 -> opened.delaySubscription(Duration.ofMillis(2));
                default -> whimsical ? Mono.error(new IllegalStateException("refused")) : opened;
            };
        }

        private static Mono<?> whim(Mono<?> answer) {
            return switch (ThreadLocalRandom.current().nextInt(20)) {
                case 0 -> Mono.never();
                case 1 -> answer.then(Mono.never());
                case 2 -> Mono.error(new IllegalStateException("on purpose"));
                case 3 -> answer.then(Mono.error(new IllegalStateException("after it was done")));
                case 4 -> throw new IllegalStateException("before it was asked");
                case 5 ->
                    answer.delayElement(
                            Duration.ofMillis(ThreadLocalRandom.current().nextInt(200)));
                case 6, 7, 8 -> answer.delaySubscription(Duration.ofMillis(1));
                default -> answer;
            };
        }
    }
}
