package io.github.reactivelock.benchmarks.inside;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.util.concurrent.CountDownLatch;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.OperationsPerInvocation;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import reactor.core.publisher.Mono;

/** A thousand flows that want the same lock at once, with the defaults; they pass it from flow to flow. */
@State(Scope.Benchmark)
public class HandOverBenchmark {

    private static final int FLOWS = 1_000;

    private LockClient lock = LockClient.create(InMemoryLockBackend.create());

    /** Made by JMH. */
    public HandOverBenchmark() {}

    /** Makes the client. */
    @Setup
    public void open() {
        lock = LockClient.create(InMemoryLockBackend.create());
    }

    /** Ends it. */
    @TearDown
    public void close() {
        lock.close().block();
    }

    /**
     * From the first to the last.
     *
     * @throws InterruptedException if JMH gives up
     */
    @Benchmark
    @OperationsPerInvocation(FLOWS)
    public void passOn() throws InterruptedException {
        CountDownLatch done = new CountDownLatch(FLOWS);
        for (int i = 0; i < FLOWS; i++) {
            lock.withLock("key", Mono.empty()).subscribe(n -> {}, e -> {}, done::countDown);
        }
        done.await();
    }
}
