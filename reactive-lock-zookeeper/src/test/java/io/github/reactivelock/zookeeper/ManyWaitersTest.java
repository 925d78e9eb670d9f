package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.Departures;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/** A crowd of claims of one client on one lock: what leaves for the server at a time, and what is left of it. */
class ManyWaitersTest extends Fixture {

    /** With {@code -Dreactivelock.waiters=10000} it shows how many one client may have. */
    private static final int MANY = Integer.getInteger("reactivelock.waiters", 1_000);

    private GatedClient gate = new GatedClient("none");

    private ZooKeeperLockBackend gated(Duration commandTimeout) {
        return gated(patient().withCommandTimeout(commandTimeout));
    }

    private ZooKeeperLockBackend gated(ZooKeeperBackendOptions options) {
        gate = new GatedClient(server.getConnectString());
        return opened(new ZooKeeperLockBackend(gate, options));
    }

    @AfterEach
    void open() {
        gate.open();
    }

    private List<Claim> many() {
        return Stream.generate(this::claim).limit(MANY).toList();
    }

    private static List<CompletableFuture<ClaimResult>> ask(ZooKeeperLockBackend backend, List<Claim> claims) {
        return claims.stream().map(claim -> backend.claim(claim).toFuture()).toList();
    }

    private static void areQueued(List<CompletableFuture<ClaimResult>> answers) {
        assertThat(answers.stream().map(ZooKeepers::get)).allMatch(ClaimResult.Queued.class::isInstance);
    }

    private static void release(ZooKeeperLockBackend backend, List<Claim> claims) {
        List<CompletableFuture<Boolean>> answers =
                claims.stream().map(claim -> backend.release(claim).toFuture()).toList();
        answers.forEach(ZooKeepers::get);
    }

    @Test
    void aCrowdLeavesALittleAtATimeAndARenewalBeforeIt() throws Exception {
        ZooKeeperLockBackend backend = gated(Duration.ofSeconds(60));
        Claim held = claim();
        granted(ZooKeepers.get(backend.claim(held)));
        List<Claim> waiting = many();
        int before = gate.asked();
        int exists = gate.asked("exists");
        gate.shut();

        List<CompletableFuture<ClaimResult>> answers = ask(backend, waiting);
        CompletableFuture<RenewalResult> renewed = backend.renew(List.of(held)).toFuture();
        ZooKeepers.until("the renewal has left", () -> gate.asked("exists") > exists);

        assertThat(gate.asked() - before)
                .as("questions of %d claims, before which the renewal came", MANY)
                .isLessThanOrEqualTo(Departures.MOST + 10);
        gate.open();
        assertThat(ZooKeepers.get(renewed).renewed()).isEqualTo(Set.of(held.id()));
        areQueued(answers);
        assertThat(gate.mostLooksUnanswered()).as("looks at one queue").isLessThanOrEqualTo(2);
        release(backend, waiting);
        assertThat(ZooKeepers.get(backend.release(held))).isTrue();
    }

    @Test
    void claimsThatAskAgainAreLookedAtTogether() {
        ZooKeeperLockBackend backend = gated(Duration.ofSeconds(60));
        Claim held = claim();
        granted(ZooKeepers.get(backend.claim(held)));
        List<Claim> waiting = many();
        areQueued(ask(backend, waiting));
        int before = gate.asked("write");

        gate.shut();
        List<CompletableFuture<ClaimResult>> answers = ask(backend, waiting);
        gate.open();
        areQueued(answers);

        assertThat(gate.asked("write") - before)
                .as("writes for %d claims", MANY)
                .isLessThanOrEqualTo(2 + MANY / 500);
        release(backend, waiting);
        assertThat(ZooKeepers.get(backend.release(held))).isTrue();
    }

    @Test
    void claimsGivenUpInSilenceAreNotMadeAfterwardsAndLeaveNoNode() throws Exception {
        ZooKeeperLockBackend others = backend();
        Claim held = claim();
        granted(ZooKeepers.get(others.claim(held)));
        ZooKeeperLockBackend backend = gated(Duration.ofSeconds(2));
        ZooKeepers.get(backend.inspect(key).retry());
        List<Claim> waiting = many();
        int before = gate.asked("create");
        int deleted = gate.asked("delete");

        gate.shut();
        List<CompletableFuture<ClaimResult>> answers = ask(backend, waiting);
        answers.forEach(answer ->
                assertThat(ZooKeepers.error(Mono.fromFuture(answer))).hasMessageContaining("did not answer in time"));
        List<CompletableFuture<Boolean>> released =
                waiting.stream().map(claim -> backend.release(claim).toFuture()).toList();
        released.forEach(
                answer -> assertThat(ZooKeepers.error(Mono.fromFuture(answer))).isNotNull()); // each has an end
        gate.open();

        ZooKeepers.until(
                "only the hold is left",
                () -> gate.asked("delete") > deleted
                        && ZooKeepers.claims(zookeeper).size() == 1);
        assertThat(gate.asked("create") - before)
                .as("claims that were made of %d that were given up", MANY)
                .isLessThanOrEqualTo(Departures.MOST);
        assertThat(ZooKeepers.get(others.release(held))).isTrue();
    }

    @Test
    void aLookWhoseAnswerNeverComesHoldsUpNoOtherForGood() {
        ZooKeeperLockBackend backend =
                gated(patient().withCommandTimeout(Duration.ofSeconds(1)).withSessionTimeout(Duration.ofSeconds(1)));
        ZooKeepers.get(backend.inspect(key).retry());

        gate.shut();
        assertThat(ZooKeepers.error(backend.inspect(key))).hasMessageContaining("did not answer in time");
        gate.lose();

        assertThat(ZooKeepers.get(backend.inspect(key).retry())).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void aCloseEndsWhatIsUnanswered() {
        ZooKeeperLockBackend backend = gated(Duration.ofMinutes(10));
        ZooKeepers.get(backend.inspect(key));

        gate.shut();
        CompletableFuture<LockInfo> unanswered = backend.inspect(key).toFuture();
        ZooKeepers.get(backend.close());

        assertThat(ZooKeepers.error(Mono.fromFuture(unanswered))).hasMessageContaining("closed");
    }

    @Test
    void aCrowdIsServedAndTheHolderBesideItKeepsItsLock() throws Exception {
        ZooKeeperLockBackend backend = gated(Duration.ofSeconds(12));
        LockClient client = client(backend);
        LockClient lock =
                client.with(client.options().withFairness(Fairness.FIFO).withLease(LEASE));
        LockHandle holder = ZooKeepers.get(lock.acquire(key));
        AtomicInteger served = new AtomicInteger();
        Queue<Throwable> failed = new ConcurrentLinkedQueue<>();
        Disposable.Composite given = Disposables.composite();
        List<Disposable> flows = new ArrayList<>();
        for (int i = 0; i < MANY; i++) {
            flows.add(lock.withLock(key, Mono.fromRunnable(served::incrementAndGet))
                    .subscribe(none -> {}, failed::add));
        }
        ZooKeepers.until("all wait", () -> ZooKeepers.claims(zookeeper).size() == MANY + 1);

        for (int i = 0; i < MANY; i += 2) {
            given.add(flows.get(i));
        }
        given.dispose();
        ZooKeepers.until(
                "half of them have left", () -> ZooKeepers.claims(zookeeper).size() == MANY / 2 + 1);
        assertThat(holder.isHeld()).isTrue();
        assertThat(ZooKeepers.get(client.inspect(key)))
                .isInstanceOfSatisfying(
                        LockInfo.Held.class, held -> assertThat(held.waiters()).isEqualTo(MANY / 2));
        ZooKeepers.get(holder.release());
        ZooKeepers.until("all are served", () -> served.get() + failed.size() == MANY / 2);

        assertThat(failed).isEmpty();
        assertThat(gate.mostLooksUnanswered()).as("looks at one queue").isLessThanOrEqualTo(2);
    }
}
