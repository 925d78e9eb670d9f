package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.FencingTokens;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** A lock that stays taken for a while after it was lost, and not after anything else. */
abstract class LockDelayCases extends Cases {

    private static final Duration DELAY = Duration.ofSeconds(3);

    LockDelayCases(LockBackendContract contract) {
        super(contract);
    }

    private static LockOptions delayed(LockOptions options) {
        return options.withLockDelay(DELAY);
    }

    @Test
    void aReleaseFreesTheLockAtOnce() {
        LockClient client = client().with(delayed(DEFAULTS));

        Await.run(client.withLock(key, Mono.just("done")));

        assertThat(isFree(client, key)).isTrue();
    }

    @Test
    void aClientThatIsClosedFreesIt() {
        LockClient client = client().with(delayed(DEFAULTS));
        assertThat(Await.get(client.acquire(key)).isHeld()).isTrue();

        Await.run(client.close());

        assertThat(isFree(client(), key)).isTrue();
    }

    @Test
    void aLockThatWasLostStaysTakenForTheDelay() {
        LockHandle lost = Await.get(client().with(delayed(notRenewed())).acquire(key));
        long now = System.nanoTime();
        long reliedUpon = now + lost.remaining().toNanos();
        CompletableFuture<LockHandle> next = client().acquire(key).toFuture();

        Await.get(lost.lost());

        LockHandle after = Await.get(next);
        assertThat(System.nanoTime() - reliedUpon).isGreaterThanOrEqualTo(DELAY.toNanos());
        assertThat(after.fencingToken()).isGreaterThan(lost.fencingToken());
        assertThat(after.isHeld()).isTrue();
        Await.run(after.release());
    }

    @Test
    void soDoesOneWhoseHolderIsNotHeardOfAnyMore() {
        needs(Feature.OUTLASTS_CLIENT);
        FaultyBackend backend = faulty();
        LockHandle lost = Await.get(client(backend).with(delayed(shortLease())).acquire(key));
        long now = System.nanoTime();
        long reliedUpon = now + lost.remaining().toNanos();
        backend.onRenewal(FaultyBackend::silent);
        backend.onRelease(FaultyBackend::silent);

        LockHandle after = Await.get(client().acquire(key));

        assertThat(System.nanoTime() - reliedUpon).isGreaterThanOrEqualTo(DELAY.toNanos());
        assertThat(lost.isHeld()).isFalse();
        Await.run(after.release());
    }

    @Test
    void aForcedReleaseFreesItAtOnceAndForGood() {
        LockHandle lost = Await.get(client().with(delayed(renewed())).acquire(key));
        LockClient operator = client();

        assertThat(Await.get(operator.forceRelease(key))).isTrue();

        LockHandle after = Await.get(operator.tryAcquire(key));
        Await.get(lost.lost());
        Await.run(after.renew());
        assertThat(after.isHeld()).isTrue();
        Await.run(after.release());
    }

    @Test
    void aTokenIsCurrentUntilAnotherHolds() {
        LockClient resource = client();
        LockHandle lost = Await.get(client().with(delayed(notRenewed())).acquire(key));
        assertThat(Await.get(resource.isCurrent(key, lost.fencingToken()))).isTrue();
        assertThat(Await.get(resource.isCurrent(key, lost.fencingToken() - FencingTokens.of(1))))
                .isFalse();

        LockHandle after = Await.get(client().acquire(key));

        assertThat(Await.get(resource.isCurrent(key, lost.fencingToken()))).isFalse();
        assertThat(Await.get(resource.isCurrent(key, after.fencingToken()))).isTrue();
        Await.run(after.release());
        assertThat(Await.get(resource.isCurrent(key, after.fencingToken()))).isFalse();
    }
}
