package io.github.reactivelock.etcd;

import static org.assertj.core.api.Assertions.assertThat;

import io.etcd.jetcd.Client;
import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.support.Departures;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/** A crowd of claims of one client on one lock: what leaves for the server at a time. */
class ManyWaitersTest extends EtcdFixture {

    private static final int MANY = 400;

    /** With {@code -Dreactivelock.waiters=10000} it shows how many one client may have. */
    private static final int WAITERS = Integer.getInteger("reactivelock.waiters", 1_000);

    @Test
    void aCrowdLeavesALittleAtATimeAndARenewalBeforeIt() throws InterruptedException {
        HeldUp held = new HeldUp();
        EtcdLockBackend backend = opened(EtcdLockBackend.connect(
                Client.builder().interceptor(held).endpoints(server.uri()),
                EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofMinutes(1))));
        Claim owner = claim();
        assertThat(granted(Etcds.get(backend.claim(owner)))).isPositive();
        held.unsentPuts = true;
        List<Claim> waiting = Stream.generate(this::claim).limit(MANY).toList();

        List<CompletableFuture<ClaimResult>> answers =
                waiting.stream().map(claim -> backend.claim(claim).toFuture()).toList();
        Etcds.until("puts have left", () -> held.unsent() >= Departures.MOST);
        assertThat(Etcds.get(backend.renew(List.of(owner))).renewed()).isEqualTo(Set.of(owner.id()));
        assertThat(held.unsent()).as("puts of %d claims", MANY).isEqualTo(Departures.MOST);
        assertThat(backend.holdsBack(waiting.get(MANY - 1))).isTrue();

        held.letUnsentGo();
        assertThat(answers.stream().map(Etcds::get)).allMatch(ClaimResult.Queued.class::isInstance);
        assertThat(backend.holdsBack(waiting.get(MANY - 1))).isFalse();
        List<CompletableFuture<Boolean>> released =
                waiting.stream().map(claim -> backend.release(claim).toFuture()).toList();
        assertThat(released.stream().map(Etcds::get)).hasSize(MANY).containsOnly(false);
        assertThat(Etcds.get(backend.release(owner))).isTrue();
    }

    @Test
    void aCrowdReadsItsLineTogetherAndNotWithEachPutAndRelease() throws InterruptedException {
        HeldUp held = new HeldUp();
        EtcdLockBackend backend = opened(
                EtcdLockBackend.connect(Client.builder().interceptor(held).endpoints(server.uri()), PATIENT));
        Claim owner = claim();
        assertThat(granted(Etcds.get(backend.claim(owner)))).isPositive();
        List<Claim> waiting = Stream.generate(this::claim).limit(MANY).toList();

        areQueued(backend, waiting);
        areQueued(backend, waiting);
        assertThat(held.mostLooksUnanswered()).as("looks at one queue").isLessThanOrEqualTo(2);
        assertThat(held.linesInChanges).as("puts that read it").hasValue(ClaimKeys.FEW);

        List<CompletableFuture<Boolean>> released =
                waiting.stream().map(claim -> backend.release(claim).toFuture()).toList();
        assertThat(released.stream().map(Etcds::get)).hasSize(MANY).containsOnly(false);
        assertThat(Etcds.get(backend.release(owner))).isTrue();
        assertThat(held.linesInChanges).as("and releases too").hasValue(ClaimKeys.FEW);
    }

    private static void areQueued(EtcdLockBackend backend, List<Claim> claims) {
        List<CompletableFuture<ClaimResult>> answers =
                claims.stream().map(claim -> backend.claim(claim).toFuture()).toList();
        assertThat(answers.stream().map(Etcds::get)).allMatch(ClaimResult.Queued.class::isInstance);
    }

    @Test
    void claimsForPermitsThatLeaveReadNoLine() throws InterruptedException {
        HeldUp held = new HeldUp();
        EtcdLockBackend backend = opened(
                EtcdLockBackend.connect(Client.builder().interceptor(held).endpoints(server.uri()), PATIENT));
        List<Claim> in = Stream.generate(this::permit).limit(2).toList();
        in.forEach(claim -> assertThat(granted(Etcds.get(backend.claim(claim)))).isPositive());
        List<Claim> waiting = Stream.generate(this::permit).limit(MANY).toList();
        areQueued(backend, waiting);
        int before = held.linesInChanges.get();

        List<CompletableFuture<Boolean>> released =
                waiting.stream().map(claim -> backend.release(claim).toFuture()).toList();
        assertThat(released.stream().map(Etcds::get)).hasSize(MANY).containsOnly(false);
        assertThat(before).as("puts that read the queue").isLessThanOrEqualTo(ClaimKeys.FEW);
        assertThat(held.linesInChanges).as("and releases too").hasValue(before);
        in.forEach(claim -> assertThat(Etcds.get(backend.release(claim))).isTrue());
    }

    private Claim permit() {
        Claim whole = claim();
        return new Claim(key, whole.id(), whole.owner(), LEASE, Claim.Mode.QUEUE, whole.keeping(), Share.permits(1, 2));
    }

    @Test
    void triesOfACrowdLookTogether() {
        HeldUp held = new HeldUp();
        EtcdLockBackend backend = opened(
                EtcdLockBackend.connect(Client.builder().interceptor(held).endpoints(server.uri()), PATIENT));
        Claim owner = claim();
        assertThat(granted(Etcds.get(backend.claim(owner)))).isPositive();

        List<CompletableFuture<ClaimResult>> answers = Stream.generate(
                        () -> claim(key, Claim.Mode.TRY, LEASE, Claim.Keeping.RENEWED))
                .limit(MANY)
                .map(claim -> backend.claim(claim).toFuture())
                .toList();

        assertThat(answers.stream().map(Etcds::get)).allMatch(ClaimResult.Busy.class::isInstance);
        assertThat(held.mostLooksUnanswered()).as("looks at one queue").isLessThanOrEqualTo(ClaimKeys.FEW + 1);
        assertThat(Etcds.get(backend.release(owner))).isTrue();
    }

    @Test
    void aWaitingClaimThatLeavesSaysWhetherItWasInWhatEverWentBefore() {
        EtcdLockBackend backend = backend();
        EtcdLockBackend others = backend();
        Claim owner = claim();
        assertThat(granted(Etcds.get(others.claim(owner)))).isPositive();
        List<Claim> waiting = Stream.generate(this::claim).limit(3).toList();
        waiting.forEach(claim -> areQueued(backend, List.of(claim)));

        assertThat(Etcds.get(backend.release(waiting.get(0)))).isFalse();
        Etcds.get(etcd.getKVClient().delete(Etcds.oldest(etcd).getKey()));
        assertThat(Etcds.get(backend.release(waiting.get(2))))
                .as("behind another that waits")
                .isFalse();
        assertThat(Etcds.get(backend.release(waiting.get(1)))).as("first").isTrue();
        assertThat(Etcds.get(others.release(owner))).isFalse();
    }

    /** A client of the application may set its calls no limit in time. */
    @Test
    void commandsThatAreNeverAnsweredHoldUpNoOtherForGood() throws InterruptedException {
        HeldUp held = new HeldUp();
        Client users =
                Client.builder().interceptor(held).endpoints(server.uri()).build();
        EtcdLockBackend backend = opened(
                EtcdLockBackend.using(users, EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(1))));
        assertThat(Etcds.get(backend.inspect(key).retry()).isFree()).isTrue();

        held.unsentPuts = true;
        List<CompletableFuture<ClaimResult>> claims = Stream.generate(this::claim)
                .limit(Departures.MOST)
                .map(claim -> backend.claim(claim).toFuture())
                .toList();
        Etcds.until("they have left", () -> held.unsent() >= Departures.MOST);
        held.unsentPuts = false;

        assertThat(Etcds.get(backend.inspect(key).retry()).isFree()).isTrue();
        assertThat(claims.stream().map(claim -> Etcds.error(Mono.fromFuture(claim))))
                .allSatisfy(error -> assertThat(error).hasMessageContaining("no answer"));
        Etcds.get(backend.close());
        users.close();
    }

    /** Each that leaves has its time, so the last ones would wait for many times that. */
    @Test
    void whoStandsInLineIsToldWhenEtcdAnswersNone() throws InterruptedException {
        HeldUp held = new HeldUp();
        Client users =
                Client.builder().interceptor(held).endpoints(server.uri()).build();
        EtcdLockBackend backend = opened(
                EtcdLockBackend.using(users, EtcdBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(1))));
        assertThat(Etcds.get(backend.inspect(key).retry()).isFree()).isTrue();

        held.unsentPuts = true;
        List<CompletableFuture<ClaimResult>> claims = Stream.generate(this::claim)
                .limit(10L * Departures.MOST)
                .map(claim -> backend.claim(claim).toFuture())
                .toList();

        assertThat(claims.stream().map(claim -> Etcds.error(Mono.fromFuture(claim))))
                .allSatisfy(error -> assertThat(error).hasMessageContaining("no answer"));
        assertThat(held.unsent()).as("puts that left").isLessThan(5 * Departures.MOST);
        Etcds.get(backend.close());
        users.close();
    }

    @Test
    void aCrowdIsServedAndTheHolderBesideItKeepsItsLock() throws Exception {
        LockClient client = client();
        LockClient lock =
                client.with(client.options().withFairness(Fairness.FIFO).withLease(Duration.ofSeconds(12)));
        LockHandle holder = Etcds.get(lock.acquire(key));
        AtomicInteger served = new AtomicInteger();
        Queue<Throwable> failed = new ConcurrentLinkedQueue<>();
        List<Disposable> flows = new ArrayList<>();
        for (int i = 0; i < WAITERS; i++) {
            flows.add(lock.withLock(key, Mono.fromRunnable(served::incrementAndGet))
                    .subscribe(none -> {}, failed::add));
        }
        Etcds.until("all wait", () -> failed.size() > 0 || waiting() == WAITERS + 1);

        for (int i = 0; i < WAITERS; i += 2) {
            flows.get(i).dispose();
        }
        Etcds.until("half of them have left", () -> failed.size() > 0 || waiting() == WAITERS / 2 + 1);
        assertThat(holder.isHeld()).isTrue();
        // One that a slow machine answers too late goes on by itself: what counts is that all are served.
        flows.add(
                holder.release().onErrorComplete(LockUnavailableException.class).subscribe());
        Etcds.until("all are served", () -> served.get() + failed.size() >= WAITERS / 2);

        assertThat(failed).isEmpty();
    }

    private int waiting() {
        return Etcds.claims(etcd).size();
    }
}
