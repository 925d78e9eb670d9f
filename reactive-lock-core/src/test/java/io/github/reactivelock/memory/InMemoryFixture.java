package io.github.reactivelock.memory;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import reactor.core.Disposable;

/** A store with a clock that tests turn, and short words for what they do all the time. */
abstract class InMemoryFixture {

    static final Duration LEASE = Duration.ofSeconds(10);

    final AtomicLong clock = new AtomicLong(Long.MAX_VALUE - 1_000);
    final InMemoryLockBackend store = InMemoryLockBackend.create(clock::get);
    final AtomicInteger ids = new AtomicInteger();

    final void pass(Duration time) {
        clock.addAndGet(time.toNanos());
    }

    final Claim queued(String key) {
        return queued(key, LEASE);
    }

    final Claim queued(String key, Duration lease) {
        return new Claim(key, "id-" + ids.incrementAndGet(), "me", lease, Claim.Mode.QUEUE);
    }

    final Claim tried(String key) {
        return new Claim(key, "id-" + ids.incrementAndGet(), "me", LEASE, Claim.Mode.TRY);
    }

    /** Error Prone knows it by its name. */
    @interface CanIgnoreReturnValue {}

    @CanIgnoreReturnValue
    final ClaimResult claim(Claim claim) {
        return claim(store, claim);
    }

    @CanIgnoreReturnValue
    static ClaimResult claim(InMemoryLockBackend backend, Claim claim) {
        return backend.claim(claim).block();
    }

    final ClaimResult.Granted grant(Claim claim) {
        return (ClaimResult.Granted) claim(claim);
    }

    @CanIgnoreReturnValue
    final Map<String, LossReason> renew(Claim claim) {
        return store.renew(List.of(claim)).block().lost();
    }

    @CanIgnoreReturnValue
    final boolean release(Claim claim) {
        return store.release(claim).block();
    }

    final LockInfo inspect(String key) {
        return store.inspect(key).block();
    }

    final LockInfo.Held inspected(String key) {
        return (LockInfo.Held) inspect(key);
    }

    @CanIgnoreReturnValue
    static List<Signal> signals(InMemoryLockBackend backend) {
        List<Signal> seen = new CopyOnWriteArrayList<>();
        Disposable unused = backend.signals().subscribe(seen::add);
        return seen;
    }
}
