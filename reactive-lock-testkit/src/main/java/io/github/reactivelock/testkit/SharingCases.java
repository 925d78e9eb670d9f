package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;

/** What the groups about shares have in common. */
abstract class SharingCases extends Cases {

    /** So long that no claim dies in a case. */
    static final Duration LONG = Duration.ofMinutes(10);

    SharingCases(LockBackendContract contract) {
        super(contract);
    }

    /** The backend for claims that are made without a client. */
    final LockBackend backend() {
        return closedAtTheEnd(contract.newBackend());
    }

    final Claim claim(Share share) {
        return claim(share, Claim.Mode.QUEUE, LONG);
    }

    final Claim claim(Share share, Claim.Mode mode, Duration lease) {
        String id = UUID.randomUUID().toString().substring(0, 22);
        return new Claim(key, id, "a claim", lease, mode, Claim.Keeping.RENEWED, share);
    }

    static ClaimResult ask(LockBackend backend, Claim claim) {
        return Await.get(backend.claim(claim));
    }

    @CanIgnoreReturnValue
    static long granted(LockBackend backend, Claim claim) {
        ClaimResult answer = ask(backend, claim);
        assertThat(answer).as("%s", claim.share()).isInstanceOf(ClaimResult.Granted.class);
        return ((ClaimResult.Granted) answer).fencingToken();
    }

    static void untilGranted(LockBackend backend, Claim claim) {
        Await.until(claim + " is granted", () -> ask(backend, claim) instanceof ClaimResult.Granted);
    }

    static boolean release(LockBackend backend, Claim claim) {
        return Await.get(backend.release(claim));
    }

    final LockHandle acquired(LockClient by, String name) {
        return Await.get(by.acquire(name));
    }

    /** Waits in the store's queue, as so many-th. */
    final CompletableFuture<LockHandle> queued(LockClient by, LockClient observer, int place) {
        CompletableFuture<LockHandle> waiting = by.acquire(key).toFuture();
        untilQueued(observer, key, place);
        return waiting;
    }

    static void release(CompletableFuture<LockHandle> held) {
        Await.run(Await.get(held).release());
    }

    static long holders(LockClient observer, String key) {
        if (!(Await.get(observer.inspect(key)) instanceof LockInfo.Held held)) {
            return 0;
        }
        LockInfo.Shares shares = held.shares();
        return shares == null ? 1 : shares.holders();
    }
}
