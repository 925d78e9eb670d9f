package io.github.reactivelock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.testkit.FaultyBackend;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/** A client whose events come on the thread that causes them, and everything that can become of a lock. */
final class Locks implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    /** A request that a test gives to a listener itself. */
    record Request(String key, ContextView context) implements LockRequest {

        Request(String key) {
            this(key, Context.empty());
        }

        @Override
        public LockOptions options() {
            return LockOptions.defaults();
        }

        @Override
        public Duration remaining() {
            return Duration.ZERO;
        }
    }

    final FaultyBackend backend = new FaultyBackend(InMemoryLockBackend.create());
    final LockClient client;

    Locks(LockListener listener) {
        this.client = LockClient.builder(backend)
                .listener(listener)
                .workScheduler(Schedulers.immediate())
                .build();
    }

    LockHandle acquire(String key) {
        return acquire(key, LockOptions.defaults());
    }

    LockHandle acquire(String key, LockOptions options) {
        LockHandle held = client.with(options).acquire(key).block(PATIENCE);
        assertThat(held).isNotNull();
        return held;
    }

    static void get(Mono<?> mono) {
        Object unused = mono.block(PATIENCE);
    }

    void loseByForce(String key) {
        LockHandle held = acquire(key);
        get(client.forceRelease(key));
        get(held.lost());
    }

    void timeOut(String key) {
        LockOptions brief = LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(1));
        fails(LockTimeoutException.class, () -> get(client.with(brief).acquire(key)));
    }

    void findItTaken(String key) {
        assertThat(client.tryAcquire(key).hasElement().block(PATIENCE)).isFalse();
    }

    void cancelAWait(String key) {
        client.acquire(key).subscribe().dispose();
    }

    void beUnavailable(String key) {
        backend.onClaim(FaultyBackend::unreachable);
        fails(LockUnavailableException.class, () -> get(client.acquire(key)));
        backend.onClaim(UnaryOperator.identity());
    }

    void failToRelease(String key) {
        LockHandle held = acquire(key);
        backend.onRelease(FaultyBackend::unreachable);
        fails(LockUnavailableException.class, () -> get(held.release()));
        backend.onRelease(UnaryOperator.identity());
    }

    /** Fails what waits, and ends what is held. */
    void closeWhileOneWaits(String key) {
        LockHandle held = acquire(key);
        Mono<LockHandle> waiter = client.acquire(key).cache();
        Disposable unused = waiter.subscribe(granted -> {}, failed -> {});
        get(client.close());
        fails(LockClientClosedException.class, () -> get(waiter));
        get(held.lost());
    }

    private static void fails(Class<? extends Throwable> how, ThrowingCallable what) {
        assertThatExceptionOfType(how).isThrownBy(what);
    }

    /** Everything that becomes of locks of one name, but what a listener is told of a hold that goes on. */
    void everything(String name) {
        get(client.withLock(name + ":1", Mono.just("work")));
        LockHandle held = acquire(name + ":2");
        timeOut(name + ":2");
        findItTaken(name + ":2");
        cancelAWait(name + ":2");
        get(held.release());
        loseByForce(name + ":3");
        beUnavailable(name + ":4");
        failToRelease(name + ":5");
        closeWhileOneWaits(name + ":6");
    }

    @Override
    public void close() {
        get(client.close());
    }
}
