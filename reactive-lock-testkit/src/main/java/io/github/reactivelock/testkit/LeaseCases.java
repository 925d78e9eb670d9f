package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/** How renewal keeps a hold, and how a hold ends by itself. */
abstract class LeaseCases extends Cases {

    LeaseCases(LockBackendContract contract) {
        super(contract);
    }

    /** More than a lease during which another client waits and fails. */
    private void outliveTheLease() {
        Duration longer = renewedLease().plus(contract.shortLease());
        assertThat(Await.error(client().with(shortLease().withWaitTimeout(longer))
                        .acquire(key)
                        .toFuture()))
                .isInstanceOf(LockTimeoutException.class);
    }

    @Test
    void aHoldThatIsNotRenewedExpiresAndItsHolderIsTold() {
        LockHandle expiring = Await.get(client().with(notRenewed()).acquire(key));
        Duration remaining = expiring.remaining();
        assertThat(remaining).isLessThanOrEqualTo(contract.shortLease());
        assertThat(remaining.isZero() && expiring.isHeld())
                .as("nothing is left, and it is held")
                .isFalse();
        CompletableFuture<LockHandle> next = client().acquire(key).toFuture();

        assertThat(Await.get(expiring.lost()).reason()).isEqualTo(LossReason.EXPIRED);

        assertThat(expiring.isHeld()).isFalse();
        assertThat(expiring.remaining()).isZero();
        assertThat(Await.get(next).fencingToken()).isGreaterThan(expiring.fencingToken());
        assertThat(Await.error(expiring.release().toFuture())).isInstanceOf(LockLostException.class);
        assertThat(Await.get(next).isHeld()).isTrue();
        Await.run(Await.get(next).renew());
        Await.run(Await.get(next).release());
    }

    @Test
    void workWhoseLockIsLostIsCancelledAndFailsWithTheLoss() {
        AtomicBoolean cancelled = new AtomicBoolean();
        Mono<String> work = Mono.<String>never().doOnCancel(() -> cancelled.set(true));

        Throwable failure =
                Await.error(client().with(notRenewed()).withLock(key, work).toFuture());

        assertThat(failure).isInstanceOfSatisfying(LockLostException.class, loss -> {
            assertThat(loss.reason()).isEqualTo(LossReason.EXPIRED);
            assertThat(loss.key()).isEqualTo(key);
        });
        assertThat(cancelled).isTrue();
    }

    @Test
    void aHoldIsRenewedForLongerThanItsLease() {
        LockHandle held = Await.get(client().with(renewed()).acquire(key));

        outliveTheLease();

        assertThat(held.isHeld()).isTrue();
        Await.run(held.release());
    }

    @Test
    void renewKeepsAHoldThatIsNotRenewedByItself() {
        LockHandle held = Await.get(client().with(renewed().withoutRenewal()).acquire(key));

        Await.run(Flux.interval(contract.shortLease().dividedBy(3))
                .onBackpressureDrop()
                .take(10)
                .concatMap(tick -> held.renew())
                .then());

        assertThat(held.isHeld()).isTrue();
        Await.run(held.release());
        assertThat(Await.error(held.renew().toFuture())).isInstanceOf(LockLostException.class);
    }

    @Test
    void aHoldThatIsTooLongIsLost() {
        LockClient client = client().with(DEFAULTS.withMaxHold(Duration.ofMillis(200)));

        Throwable failure = Await.error(client.withLock(key, Mono.never()).toFuture());

        assertThat(failure)
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.HELD_TOO_LONG));
        Await.run(Await.get(client().acquire(key)).release());
    }

    @Test
    void oneFailedRenewalDoesNotStopRenewing() {
        FaultyBackend backend = faulty();
        AtomicInteger asked = new AtomicInteger();
        backend.onRenewal(renewal -> asked.getAndIncrement() == 0 ? FaultyBackend.unreachable(renewal) : renewal);
        LockHandle held = Await.get(client(backend).with(renewed()).acquire(key));

        outliveTheLease();

        assertThat(held.isHeld()).isTrue();
        assertThat(asked).hasValueGreaterThan(2);
        Await.run(held.release());
    }

    @Test
    void renewalsThatFailUntilTheDeadlineLoseTheHoldWithTheirCause() {
        FaultyBackend backend = faulty();
        backend.onRenewal(FaultyBackend::unreachable);
        LockHandle held = Await.get(client(backend).with(renewed()).acquire(key));

        LockLostException loss = Await.get(held.lost());

        assertThat(loss.reason()).isEqualTo(LossReason.UNREACHABLE);
        assertThat(loss).hasMessageContaining("planted fault");
        assertThat(backend.renewals()).isGreaterThan(1);
    }

    @Test
    void renewalsThatAreNeverAnsweredLoseTheHold() {
        FaultyBackend backend = faulty();
        backend.onRenewal(FaultyBackend::silent);
        LockHandle held = acquired(impatient(backend).with(shortLease()));

        assertThat(Await.get(held.lost()).reason()).isEqualTo(LossReason.UNREACHABLE);
    }

    @Test
    void aRenewalThatArrivesAfterTheReleaseDoesNotReviveTheHold() {
        FaultyBackend backend = faulty();
        Sinks.Empty<Void> gate = Sinks.empty();
        LockClient client = client(backend);
        LockHandle held = Await.get(client.acquire(key));
        Sinks.Empty<Void> left = Sinks.empty();
        backend.onRenewal(renewal -> {
            left.tryEmitEmpty(); // which an earlier one may have done
            return gate.asMono().then(renewal);
        });
        CompletableFuture<Void> renewed = held.renew().toFuture();
        Await.run(left.asMono());

        Await.run(held.release());
        gate.tryEmitEmpty().orThrow();
        Await.until("the renewal has an outcome", renewed::isDone);

        assertThat(isFree(client, key)).isTrue();
        Await.run(Await.get(client().tryAcquire(key)).release());
    }

    @Test
    void aHolderPausedPastItsLeaseDoesNoHarmWhereTheTokenIsChecked() {
        FencedRegister register = new FencedRegister();
        LockHandle paused = Await.get(client().with(notRenewed()).acquire(key));
        assertThat(register.write(paused.fencingToken())).isTrue();
        LockHandle next = Await.get(client().acquire(key));

        assertThat(register.write(next.fencingToken())).isTrue();
        assertThat(register.write(paused.fencingToken())).isFalse();

        assertThat(paused.isHeld()).isFalse();
        Await.run(next.release());
    }
}
