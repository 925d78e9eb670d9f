package io.github.reactivelock.benchmarks.inside;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.support.FireAndForget;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import reactor.test.scheduler.VirtualTimeScheduler;

/** The tick of a client that holds ten thousand locks, with a clock that only the benchmark moves. */
@State(Scope.Thread)
public class RenewalBenchmark {

    private static final int HOLDS = 10_000;
    private static final Duration TICK = Duration.ofMillis(250);
    private static final Duration THIRD_OF_A_LEASE = Duration.ofSeconds(10);

    private final AtomicLong held = new AtomicLong();
    private VirtualTimeScheduler time = VirtualTimeScheduler.create();
    private LockClient lock = LockClient.create(InMemoryLockBackend.create());

    /** Made by JMH. */
    public RenewalBenchmark() {}

    /** Takes the locks. */
    @Setup
    public void hold() {
        VirtualTimeScheduler virtual = VirtualTimeScheduler.create();
        time = virtual;
        lock = LockClient.builder(InMemoryLockBackend.create(() -> virtual.now(TimeUnit.NANOSECONDS)))
                .timing(virtual, () -> virtual.now(TimeUnit.NANOSECONDS))
                .workScheduler(virtual)
                .build();
        for (int i = 0; i < HOLDS; i++) {
            FireAndForget.run("taking a lock", lock.acquire("key:" + i).doOnNext(handle -> held.incrementAndGet()));
        }
        virtual.advanceTime();
        if (held.get() != HOLDS) {
            throw new IllegalStateException("only " + held.get() + " locks could be acquired");
        }
    }

    /** Gives them back. */
    @TearDown
    public void close() {
        FireAndForget.run("closing", lock.close());
        time.advanceTimeBy(THIRD_OF_A_LEASE);
    }

    /** Looks at all of them and renews none, in most cases. */
    @Benchmark
    public void tick() {
        time.advanceTimeBy(TICK);
    }

    /** Forty ticks, one of which renews all of them. */
    @Benchmark
    public void period() {
        time.advanceTimeBy(THIRD_OF_A_LEASE);
    }
}
