package io.github.reactivelock.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockContext;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.subscriber.TestSubscriber;

/** Locks nested thousands deep, on threads with little stack. */
class DeepNestingTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final int LEVELS = 10_000;
    /** Fewer, because operators behind one another ask one another for their Context. */
    private static final int HANDLES = 1_500;

    private static final int STACK = 512 * 1024;

    /** Where the work runs; all of these threads have little stack, but for those of the library. */
    enum On {
        IN_PLACE,
        IN_PLACE_OF_AN_EXECUTOR,
        THREADS_OF_THE_LIBRARY,
        ONE_THREAD;

        LockClientBuilder client(InMemoryLockBackend store) {
            LockClientBuilder builder = LockClient.builder(store);
            return switch (this) {
                case IN_PLACE -> builder.workScheduler(Schedulers.immediate());
                case IN_PLACE_OF_AN_EXECUTOR -> builder.workScheduler(Schedulers.fromExecutor(Runnable::run));
                case THREADS_OF_THE_LIBRARY -> builder;
                case ONE_THREAD -> builder.workScheduler(ONE);
            };
        }

        private static final Scheduler ONE = Schedulers.newSingle(task -> {
            Thread thread = new Thread(null, task, "one", STACK);
            thread.setDaemon(true);
            return thread;
        });
    }

    private final InMemoryLockBackend store = InMemoryLockBackend.create();
    private final Semaphore released = new Semaphore(0);
    private LockClient client;

    private LockClient open(On on) {
        client = on.client(store)
                .listener(new LockListener() {
                    @Override
                    public void released(LockRequest request, long fencingToken, Duration held) {
                        released.release();
                    }
                })
                .build();
        return client;
    }

    @AfterEach
    void close() {
        client.close().block(LIMIT);
    }

    private static <T> TestSubscriber<T> begun(Flux<T> work) {
        TestSubscriber<T> flow = TestSubscriber.create();
        new Thread(null, () -> work.subscribe(flow), "small stack", STACK).start();
        return flow;
    }

    private static void onASmallStack(Runnable task) {
        Thread thread = new Thread(null, task, "small stack", STACK);
        thread.start();
        try {
            thread.join(LIMIT.toMillis());
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        assertThat(thread.isAlive()).isFalse();
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static void acquire(Semaphore from, int permits) {
        try {
            assertThat(from.tryAcquire(permits, LIMIT.toSeconds(), TimeUnit.SECONDS))
                    .isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private void assertReleasedOnce() {
        assertThat(client.withLock("k", Mono.just("free")).block(LIMIT)).isEqualTo("free");
        assertThat(client.inspect("k").block(LIMIT)).matches(LockInfo::isFree);
        acquire(released, 2);
        assertThat(released.availablePermits()).isZero();
    }

    /** One key in itself, in each way to ask for it. */
    enum Way {
        WORK_THAT_IS_KNOWN {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                Mono<Integer> work = innermost.next();
                for (int level = 0; level < levels; level++) {
                    work = client.withLock("k", work);
                }
                return work.flux();
            }
        },
        WORK_THAT_IS_CALLED {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                return called(client, levels, innermost).flux();
            }

            private Mono<Integer> called(LockClient client, int levels, Flux<Integer> innermost) {
                return levels == 0
                        ? innermost.next()
                        : client.withLock("k", held -> called(client, levels - 1, innermost));
            }
        },
        WORK_BEHIND_OPERATORS {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                return called(client, levels, innermost).flux();
            }

            private Mono<Integer> called(LockClient client, int levels, Flux<Integer> innermost) {
                return levels == 0
                        ? innermost.next()
                        : client.withLock(
                                "k",
                                Mono.defer(() -> called(client, levels - 1, innermost))
                                        .map(value -> value));
            }
        },
        MANY_VALUES {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                Flux<Integer> work = innermost;
                for (int level = 0; level < levels; level++) {
                    work = client.withLock("k", work);
                }
                return work;
            }
        },
        MANY_VALUES_CALLED {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                return levels == 0
                        ? innermost
                        : client.withLockMany("k", held -> nested(client, levels - 1, innermost));
            }
        },
        TRIED {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                Mono<Integer> work = innermost.next();
                for (int level = 0; level < levels; level++) {
                    work = client.tryWithLock("k", work, Mono.error(new AssertionError("taken")));
                }
                return work.flux();
            }
        },
        SHARED {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                return WORK_THAT_IS_KNOWN.nested(client.shared(), levels, innermost);
            }
        },
        SEVERAL_KEYS {
            @Override
            Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost) {
                Mono<Integer> work = innermost.next();
                for (int level = 0; level < levels; level++) {
                    work = client.withLock(List.of("k", "k"), work);
                }
                return work.flux();
            }
        };

        abstract Flux<Integer> nested(LockClient client, int levels, Flux<Integer> innermost);
    }

    static Stream<Arguments> ways() {
        return Stream.of(On.values()).flatMap(on -> Stream.of(Way.values()).map(way -> Arguments.of(on, way)));
    }

    @ParameterizedTest
    @MethodSource("ways")
    void oneKeyWithinItselfNeedsNoMoreStack(On on, Way way) {
        TestSubscriber<Integer> flow = begun(way.nested(open(on), LEVELS, Flux.just(1)));

        flow.block(LIMIT);

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertReleasedOnce();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aFailureInsideThemAllReleasesOnce(On on, Way way) {
        IllegalStateException failure = new IllegalStateException("deep inside");

        TestSubscriber<Integer> flow = begun(way.nested(open(on), LEVELS, Flux.error(failure)));
        flow.block(LIMIT);

        assertThat(flow.expectTerminalError()).isSameAs(failure);
        assertReleasedOnce();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aCancelOfTheOutermostReachesTheInnermostBeforeTheRelease(On on, Way way) {
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        AtomicInteger releasedBefore = new AtomicInteger();
        Flux<Integer> innermost = Flux.<Integer>never()
                .doOnSubscribe(s -> working.countDown())
                .doOnCancel(() -> {
                    releasedBefore.set(released.availablePermits() + (store.size() == 1 ? 0 : 1));
                    cancelled.countDown();
                });
        TestSubscriber<Integer> flow = begun(way.nested(open(on), LEVELS, innermost));
        await(working);

        onASmallStack(flow::cancel);

        await(cancelled);
        assertThat(releasedBefore).hasValue(0);
        assertReleasedOnce();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void theInnermostMayCancelTheOutermost(On on, Way way) {
        TestSubscriber<Integer> flow = TestSubscriber.create();
        CountDownLatch cancelled = new CountDownLatch(1);
        Flux<Integer> innermost =
                Flux.<Integer>never().doOnCancel(cancelled::countDown).doOnSubscribe(s -> flow.cancel());

        Flux<Integer> nested = way.nested(open(on), LEVELS, innermost);
        new Thread(null, () -> nested.subscribe(flow), "small stack", STACK).start();

        await(cancelled);
        acquire(released, 1);
        released.release();
        assertReleasedOnce();
    }

    @ParameterizedTest
    @MethodSource("ways")
    void aLossCancelsTheInnermost(On on, Way way) {
        CountDownLatch working = new CountDownLatch(1);
        CountDownLatch cancelled = new CountDownLatch(1);
        Flux<Integer> innermost =
                Flux.<Integer>never().doOnSubscribe(s -> working.countDown()).doOnCancel(cancelled::countDown);
        TestSubscriber<Integer> flow = begun(way.nested(open(on), LEVELS, innermost));
        await(working);

        assertThat(client.forceRelease("k").block(LIMIT)).isTrue();

        flow.block(LIMIT);
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        await(cancelled);
    }

    private static Flux<Integer> ofKeys(LockClient client, int levels, Flux<Integer> innermost) {
        Flux<Integer> work = innermost;
        for (int level = 0; level < levels; level++) {
            work = client.withLock("level " + level, work);
        }
        return work;
    }

    /** Those that began the work of a level; before that, a cancel is left to them. */
    private static void untilAllCallsHaveReturned() {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (Thread.getAllStackTraces().values().stream()
                .flatMap(Stream::of)
                .anyMatch(frame -> frame.getClassName().equals(LockedWork.class.getName()))) {
            assertThat(System.nanoTime() - deadline).isNegative();
            Thread.onSpinWait();
        }
    }

    /** Ten keys, so that most levels are the same key again, and some are another one. */
    private static Mono<Integer> mixed(LockClient client, int levels, Mono<Integer> innermost) {
        Mono<Integer> work = innermost;
        for (int level = 0; level < levels; level++) {
            work = client.withLock("level " + (level % 37 == 0 ? level : level % 10), work);
        }
        return work;
    }

    @ParameterizedTest
    @EnumSource
    void otherKeysBetweenTheLevelsNeedNoMoreStack(On on) {
        TestSubscriber<Integer> flow =
                begun(mixed(open(on), LEVELS, Mono.just(1)).flux());
        flow.block(LIMIT);

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertThat(store.size()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void locksOfManyKeysAreCancelledFromTheInnermostOutwards(On on) {
        CountDownLatch working = new CountDownLatch(1);
        AtomicInteger heldAtTheCancel = new AtomicInteger();
        int levels = 1_000;
        Flux<Integer> innermost = Flux.<Integer>never()
                .doOnSubscribe(s -> working.countDown())
                .doOnCancel(() -> heldAtTheCancel.set(store.size()));
        TestSubscriber<Integer> flow = begun(ofKeys(open(on), levels, innermost));
        await(working);
        untilAllCallsHaveReturned();

        onASmallStack(flow::cancel);

        acquire(released, levels);
        assertThat(heldAtTheCancel).as("locks that are held yet").hasValue(levels);
        assertThat(store.size()).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void manyValuesThatAreAskedForOneByOnePassAllLevels(On on) {
        int values = 50;
        TestSubscriber<Integer> flow =
                TestSubscriber.builder().initialRequest(1).build();
        List<Integer> arrived = new CopyOnWriteArrayList<>();
        Flux<Integer> nested = Way.MANY_VALUES
                .nested(open(on), LEVELS, Flux.range(0, values))
                .doOnNext(value -> {
                    arrived.add(value);
                    flow.request(1);
                });

        new Thread(null, () -> nested.subscribe(flow), "small stack", STACK).start();
        flow.block(LIMIT);

        assertThat(arrived)
                .containsExactlyElementsOf(IntStream.range(0, values).boxed().toList());
        assertThat(flow.isTerminatedComplete()).isTrue();
        assertReleasedOnce();
    }

    private static Mono<Integer> acquired(LockClient client, int levels, Mono<Integer> innermost) {
        return levels == 0
                ? innermost
                : client.acquire("k")
                        .flatMap(held -> acquired(client, levels - 1, innermost)
                                .flatMap(value -> held.release().thenReturn(value)));
    }

    @ParameterizedTest
    @EnumSource
    void handlesAcquiredWithinOneAnotherNeedNoMoreStack(On on) {
        var unused = open(on);

        TestSubscriber<Integer> flow = begun(
                client.withLock("k", acquired(client, HANDLES, Mono.just(1))).flux());
        flow.block(LIMIT);

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertReleasedOnce();
    }

    @ParameterizedTest
    @EnumSource
    void handlesOfAnOwnerNeedNoMoreStack(On on) {
        var unused = open(on);

        TestSubscriber<Integer> flow = begun(acquired(client, HANDLES, Mono.just(1))
                .contextWrite(LockContext.owner("an owner"))
                .flux());
        flow.block(LIMIT);

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertReleasedOnce();
    }

    private static Mono<Integer> nested(LockClient client, String key, int levels, Mono<Integer> innermost) {
        Mono<Integer> work = innermost;
        for (int level = 0; level < levels; level++) {
            work = client.withLock(key, work);
        }
        return work;
    }

    /** On one thread it would wait for itself, however deep. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "ONE_THREAD")
    void codeInsideMayBlockOnAnotherFlowThatIsAsDeep(On on) {
        var unused = open(on);
        Mono<Integer> other = nested(client, "other", 100, Mono.just(1));
        Mono<Integer> inner = nested(client, "k", 40, Mono.fromCallable(() -> other.block(LIMIT)));

        TestSubscriber<Integer> flow = begun(nested(client, "k", 60, inner.map(value -> other.block(LIMIT)))
                .map(value -> other.block(LIMIT))
                .flux());
        flow.block(LIMIT);

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertThat(store.size()).isZero();
    }

    /** What blocks has the holds of its flow, and so has what it blocks on. */
    @ParameterizedTest
    @EnumSource(names = "THREADS_OF_THE_LIBRARY")
    void codeInsideMayBlockOnLocksOfItsOwnFlow(On on) {
        var unused = open(on);
        Mono<Integer> innermost = Mono.deferContextual(context -> Mono.fromCallable(() ->
                nested(client, "k", 100, Mono.just(1)).contextWrite(context).block(LIMIT)));

        TestSubscriber<Integer> flow = begun(nested(client, "k", 100, innermost).flux());
        flow.block(LIMIT);

        assertThat(flow.getReceivedOnNext()).containsExactly(1);
        assertReleasedOnce();
    }
}
