package io.github.reactivelock.benchmarks.inside;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import org.jspecify.annotations.Nullable;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** One flow without contention, and without the hop to another thread. */
@State(Scope.Thread)
public class UncontendedBenchmark {

    private LockClient lock = LockClient.create(InMemoryLockBackend.create());

    /** Made by JMH. */
    public UncontendedBenchmark() {}

    /** Makes the client. */
    @Setup
    public void open() {
        lock = LockClient.builder(InMemoryLockBackend.create())
                .workScheduler(Schedulers.immediate())
                .build();
    }

    /** Ends it. */
    @TearDown
    public void close() {
        lock.close().block();
    }

    /**
     * Taken and given back.
     *
     * @return the work's value
     */
    @Benchmark
    public @Nullable Integer withLock() {
        return lock.withLock("key", Mono.just(1)).block();
    }

    /**
     * Taken, taken again below, and given back.
     *
     * @return the work's value
     */
    @Benchmark
    public @Nullable Integer reentrant() {
        return lock.withLock("key", lock.withLock("key", Mono.just(1))).block();
    }
}
