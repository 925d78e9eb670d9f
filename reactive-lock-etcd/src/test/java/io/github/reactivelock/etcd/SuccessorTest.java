package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A claim that stood behind another of its client, lost its key, and stands behind a third one's now. */
class SuccessorTest extends EtcdFixture {

    private HeldUp held = new HeldUp();
    private EtcdLockBackend backend;
    private Queue<Signal> signals;
    private EtcdLockBackend another;
    private Claim owner;
    private Claim waiting;
    private Claim between;

    @BeforeEach
    void oneWaitsRightBehindTheOther() throws InterruptedException {
        held = new HeldUp();
        another = backend();
        owner = claim();
        waiting = claim();
        between = claim();
        backend = opened(EtcdLockBackend.connect(
                Client.builder().interceptor(held).endpoints(server.uri()),
                EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(30))));
        signals = listen(backend);
        assertThat(granted(Etcds.get(backend.claim(owner)))).isPositive();
        assertThatItWaits(backend, waiting);
    }

    private static boolean isGranted(Queue<Signal> signals, Claim claim) {
        return signals.stream()
                .anyMatch(signal ->
                        signal instanceof Signal.Grant grant && grant.claimId().equals(claim.id()));
    }

    private void assertThatItWaits(EtcdLockBackend backend, Claim claim) {
        assertThat(Etcds.get(backend.claim(claim))).isInstanceOf(ClaimResult.Queued.class);
    }

    /** Another client's claim comes before it then. */
    private void itsKeyIsDeleted() {
        Etcds.get(etcd.getKVClient()
                .delete(Etcds.claims(etcd).stream()
                        .filter(kv -> ClaimValue.of(kv).claimId().equals(waiting.id()))
                        .findAny()
                        .orElseThrow()
                        .getKey()));
        assertThatItWaits(another, between);
    }

    private void assertThatTheOneBetweenIsNextAndThenThisOne() throws InterruptedException {
        Queue<Signal> told = listen(another);
        assertThat(Etcds.get(backend.release(owner))).isTrue();

        Etcds.until("the one between has the lock", () -> isGranted(told, between));
        assertThat(isGranted(signals, waiting)).as("two have the lock").isFalse();
        assertThatItWaits(backend, waiting);
        assertThat(Etcds.get(another.release(between))).isTrue();
        Etcds.until("it has the lock", () -> isGranted(signals, waiting));
        assertThat(Etcds.get(backend.release(waiting))).isTrue();
    }

    @Test
    void itIsNotGivenTheLockWhenTheFirstOneLeaves() throws InterruptedException {
        itsKeyIsDeleted();
        assertThatItWaits(backend, waiting);

        assertThatTheOneBetweenIsNextAndThenThisOne();
    }

    @Test
    void anAnswerFromBeforeDoesNotPutItBehindTheFirstOneAgain() throws InterruptedException {
        held.looks = true;
        CompletableFuture<ClaimResult> late = backend.claim(waiting).toFuture();
        Etcds.until("it was looked at", () -> held.count() > 1);
        held.looks = false;

        itsKeyIsDeleted();
        assertThatItWaits(backend, waiting);
        held.letGo();
        assertThat(late).succeedsWithin(Etcds.LIMIT);

        assertThatTheOneBetweenIsNextAndThenThisOne();
    }
}
