package io.github.reactivelock.simulation;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/**
 * The engine under Lincheck: two clients with two flows each want one lock, and two threads begin, end and cancel
 * flows, let time pass so that holds are renewed, let the clock run ahead of all timers so that they are lost, release
 * by force and close, in every combination that chance gives. The second client hears late of answers and pushes, so
 * that either overtakes the other. Never are two inside at once, never does anybody enter with an old token, and
 * afterwards nothing is left.
 */
class EngineModelTest {

    private static final Logger NOISE = (Logger) LoggerFactory.getLogger("io.github.reactivelock");

    @BeforeAll
    static void silence() {
        NOISE.setLevel(Level.OFF);
    }

    @AfterAll
    static void speak() {
        NOISE.setLevel(Level.INFO);
    }

    @Test
    void whateverMeetsWhateverOneIsInsideAndNothingIsLeft() {
        check(Cohorts.class);
    }

    @Test
    void strictOrderStandsTheSame() {
        check(Ordered.class);
    }

    @SuppressWarnings("deprecation") // The way its guide shows for Java.
    private static void check(Class<?> model) {
        org.jetbrains.kotlinx.lincheck.LinChecker.check(
                model,
                new StressOptions()
                        // So many schedules by chance: two find nothing, and some dozens a flow that leaves its claim.
                        .iterations(Integer.getInteger("reactivelock.lincheck.iterations", 200))
                        .invocationsPerIteration(50)
                        .threads(2)
                        .actorsPerThread(3)
                        .actorsBefore(2)
                        .actorsAfter(0)
                        .minimizeFailedScenario(false));
    }

    /** Flows of a client pass the lock on among themselves. */
    public static final class Cohorts extends Model {

        /** For Lincheck. */
        public Cohorts() {
            super(Fairness.COHORT);
        }
    }

    /** Every flow queues at the store. */
    public static final class Ordered extends Model {

        /** For Lincheck. */
        public Ordered() {
            super(Fairness.FIFO);
        }
    }

    /** Operations return nothing: what they do to one another is seen by who is inside, and in the end. */
    @Param(name = "flow", gen = IntGen.class, conf = "0:3")
    public abstract static class Model {

        private static final Duration LEASE = Duration.ofSeconds(3);
        private static final long GRANT = -(1L << LockBackend.PASS_BITS);

        private final VirtualTimer timer = new VirtualTimer();
        private final AtomicLong now = new AtomicLong();
        private final InMemoryLockBackend store = InMemoryLockBackend.create(now::get);
        private final LockClient one;
        private final LockClient other;
        private final LockClient last;
        private final LateAnswers late = new LateAnswers(store.connect());
        private final AtomicLong highest = new AtomicLong();
        private final AtomicBoolean wasOld = new AtomicBoolean();
        private final Set<LockHandle> inside = ConcurrentHashMap.newKeySet();
        private final AtomicBoolean met = new AtomicBoolean();
        /** Grants that an operator ended: until their holders are told there may be two, as documented. */
        private final Set<Long> forced = ConcurrentHashMap.newKeySet();

        private final AtomicReferenceArray<Disposable> flows = new AtomicReferenceArray<>(4);
        private final AtomicReferenceArray<Sinks.Empty<Void>> ends = new AtomicReferenceArray<>(4);

        Model(Fairness fairness) {
            one = client(store, fairness);
            other = client(late, fairness);
            last = client(store.connect(), fairness);
            for (int flow = 0; flow < 4; flow++) {
                ends.set(flow, Sinks.empty());
            }
        }

        private LockClient client(LockBackend backend, Fairness fairness) {
            return LockClient.builder(backend)
                    .options(LockOptions.defaults().withLease(LEASE).withFairness(fairness))
                    .timing(timer, now::get)
                    .workScheduler(Schedulers.immediate())
                    .build();
        }

        @Operation
        public void begin(@Param(name = "flow") int flow) {
            Disposable.Swap begun = Disposables.swap();
            if (flows.compareAndSet(flow, null, begun)) {
                LockClient client = flow < 2 ? one : other;
                boolean unused = begun.update(client.withLock("k", held -> work(flow, held))
                        .onErrorComplete()
                        .subscribe());
            }
        }

        @Operation
        public void end(@Param(name = "flow") int flow) {
            var unused = ends.get(flow).tryEmitEmpty();
        }

        @Operation
        public void cancel(@Param(name = "flow") int flow) {
            Disposable begun = flows.get(flow);
            if (begun != null) {
                begun.dispose();
            }
        }

        @Operation
        public void renewalIsDue() {
            pass(LEASE.dividedBy(3).plusMillis(250));
        }

        @Operation
        public void answer() {
            boolean unused = late.answerOne();
        }

        @Operation
        public void push() {
            boolean unused = late.pushOne();
        }

        @Operation
        public void standStill() {
            // The holder sees by the clock that the hold is over, and is told when a timer runs, as a stopped process
            // is.
            long unused = now.addAndGet(LEASE.toNanos());
        }

        @Operation
        public void force() {
            var unused = last.inspect("k")
                    .ofType(LockInfo.Held.class)
                    .flatMap(held -> {
                        boolean unusedNew = forced.add(held.fencingToken() & GRANT);
                        return last.forceRelease("k", held.fencingToken());
                    })
                    .subscribe();
        }

        @Operation(runOnce = true)
        public void close() {
            var unused = one.close().subscribe();
        }

        @Validate
        public void nothingIsLeft() {
            for (int flow = 0; flow < 4; flow++) {
                end(flow);
                cancel(flow);
            }
            settle();
            AtomicInteger got = new AtomicInteger();
            var unused = last.tryAcquire("k")
                    .doOnNext(held -> got.incrementAndGet())
                    .flatMap(held -> held.release())
                    .block(Duration.ofSeconds(10));
            require(got.get() == 1, "the lock was left behind");
            require(inside.isEmpty(), "somebody was left inside");
            require(!met.get(), "two were inside at once");
            require(!wasOld.get(), "somebody entered with an old token");
            var unusedEnd = one.close().then(other.close()).then(last.close()).subscribe();
        }

        /** Timers that were passed over run, and what is still under way is answered. */
        private void settle() {
            do {
                pass(Duration.ofMillis(250));
            } while (late.answerOne() || late.pushOne());
        }

        private Mono<Void> work(int flow, LockHandle held) {
            long before = highest.get();
            if (held.isHeld() && held.fencingToken() < before && !isExcused(held)) {
                wasOld.set(true);
            }
            long unusedHighest = highest.accumulateAndGet(held.fencingToken(), Math::max);
            Runnable leave = () -> {
                boolean unused = inside.remove(held);
            };
            return Mono.defer(() -> {
                        boolean unused = inside.add(held);
                        if (inside.stream().anyMatch(other -> other != held && meets(other, held))) {
                            met.set(true);
                        }
                        return ends.get(flow).asMono();
                    })
                    .doOnTerminate(leave)
                    .doOnCancel(leave);
        }

        /** The other is asked first: who holds the lock after that held it then, too. */
        private boolean meets(LockHandle other, LockHandle held) {
            return other.isHeld() && held.isHeld() && !isExcused(other) && !isExcused(held);
        }

        private boolean isExcused(LockHandle held) {
            return forced.contains(held.fencingToken() & GRANT);
        }

        private void pass(Duration time) {
            now.addAndGet(time.toNanos());
            timer.advance(time);
        }

        private static void require(boolean so, String otherwise) {
            if (!so) {
                throw new IllegalStateException(otherwise);
            }
        }
    }
}
