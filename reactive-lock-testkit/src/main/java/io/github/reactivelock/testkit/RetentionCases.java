package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A lock that its last client keeps for its next flow, and gives back when it is called. */
abstract class RetentionCases extends Cases {

    /** So long that nothing but a recall ends it within a case. */
    private static final LockOptions KEPT =
            DEFAULTS.withLease(Duration.ofMinutes(10)).withRetention(Duration.ofMinutes(5));

    private final FaultyBackend backend = faulty();

    RetentionCases(LockBackendContract contract) {
        super(contract);
    }

    /** A client, which is closed at the end. Some stores know only once they were asked something. */
    @CanIgnoreReturnValue
    private LockClient canKeep() {
        LockClient made = client(backend);
        Await.run(made.withLock(key("before"), Mono.empty()));
        assumeTrue(backend.supportsRecall(), "this store cannot call a lock back");
        return made;
    }

    /** A client that keeps locks, and hears its store. */
    private LockClient keeper(LockOptions options) {
        LockClient made = canKeep().with(options);
        Await.run(made.withLock(key("before"), Mono.empty()));
        Await.run(backend.listening());
        Await.until("recalls are heard", backend::hearsRecalls);
        return made;
    }

    /** One that has kept the lock of this case; its token. */
    @CanIgnoreReturnValue
    private long kept(LockClient keeper) {
        return Await.get(keeper.withLock(key, held -> Mono.just(held.fencingToken())));
    }

    @Test
    void aStoreThatCannotCallBackRefusesItWithASentence() {
        LockClient made = client(backend);
        assumeTrue(!backend.supportsRecall(), "this store can call a lock back");

        assertThatThrownBy(() -> made.with(KEPT))
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("cannot call a lock back");
    }

    @Test
    void theNextFlowHasItWithoutACommand() {
        LockClient keeper = keeper(KEPT);
        long token = kept(keeper);
        int asked = backend.claims().size();
        int released = backend.releases();

        for (int flows = 1; flows <= 100; flows++) {
            assertThat(kept(keeper)).isEqualTo(token + flows);
        }
        Await.run(Await.get(keeper.tryAcquire(key)).release());

        assertThat(backend.claims()).hasSize(asked);
        assertThat(backend.releases()).isEqualTo(released);
    }

    @Test
    void anotherClientCallsItBack() {
        LockClient keeper = keeper(KEPT);
        long token = kept(keeper);

        LockHandle other = Await.get(client().acquire(key));

        assertThat(other.fencingToken()).isGreaterThan(token);
        Await.run(other.release());
        assertThat(kept(keeper)).isGreaterThan(other.fencingToken());
    }

    @Test
    void aTryOfAnotherClientCallsItBackAndHasIt() {
        LockClient keeper = keeper(KEPT);
        LockClient other = client();
        AtomicLong last = new AtomicLong();

        // A try does not wait for long, so one may be refused where a busy machine delays what is given back.
        Await.until("a try has it", () -> {
            Await.until("it is kept", () -> {
                long token = kept(keeper);
                return token == last.getAndSet(token) + 1;
            });
            Optional<LockHandle> tried = other.tryAcquire(key).blockOptional(Await.LIMIT);
            tried.ifPresent(held -> {
                assertThat(held.fencingToken()).isGreaterThan(last.get());
                Await.run(held.release());
            });
            return tried.isPresent();
        });
    }

    @Test
    void aTryIsRefusedWhileAFlowIsInAndLeavesNoPlaceBehind() {
        LockClient keeper = keeper(KEPT);
        LockClient other = client();
        LockHandle held = Await.get(keeper.acquire(key));

        assertThat(Await.isEmpty(other.tryAcquire(key))).isTrue();
        assertThat(Await.isEmpty(keeper.tryAcquire(key))).isTrue();

        untilQueued(other, key, 0);
        assertThat(held.isHeld()).isTrue();
        Await.run(held.release());
    }

    @Test
    void aRecallWhileAFlowIsInWaitsForItsRelease() {
        LockClient keeper = keeper(KEPT);
        LockHandle held = Await.get(keeper.acquire(key));
        LockClient other = client();
        CompletableFuture<LockHandle> next = other.acquire(key).toFuture();
        untilQueued(other, key, 1);

        assertThat(held.isHeld()).isTrue();
        Await.run(held.release());

        Await.run(Await.get(next).release());
    }

    @Test
    void aRecallThatIsLostCostsTheTimeItIsKeptForAtMost() {
        LockClient keeper = keeper(DEFAULTS.withRetention(Duration.ofSeconds(1)));
        backend.onSignal(signal -> !(signal instanceof Signal.Recall));
        long token = kept(keeper);

        LockHandle other = Await.get(client().acquire(key));

        assertThat(other.fencingToken()).isGreaterThan(token);
        Await.run(other.release());
    }

    @Test
    void aRecallThatComesTwiceOrIsNoOnesChangesNothing() {
        LockClient keeper = keeper(KEPT);
        long token = kept(keeper);
        String claim = backend.claims().get(backend.claims().size() - 1).id();

        backend.forge(new Signal.Recall("an unknown claim"));
        assertThat(kept(keeper)).isEqualTo(token + 1);
        backend.forge(new Signal.Recall(claim));
        backend.forge(new Signal.Recall(claim));
        LockHandle held = Await.get(keeper.acquire(key));
        backend.forge(new Signal.Recall(claim));

        assertThat(held.isHeld()).isTrue();
        assertThat(held.fencingToken()).isGreaterThan(token + 1);
        Await.run(held.release());
    }

    /** Nothing says what became of the lock meanwhile: here another client has it. */
    @Test
    void whatIsKeptGoesToNoFlowWhileItsStoreIsUnheard() {
        canKeep();
        LockBackendContract.Line line = contract.line();
        LockClient cutOff = impatient(line.backend()).with(KEPT);
        LockClient other = client();
        // So long that its passes do not come to their end here.
        Mono<Boolean> flow = cutOff.withLock(
                        key, Mono.delay(Duration.ofMillis(20)).thenReturn(true))
                .onErrorReturn(LockException.class, false);
        Await.until("it is kept", () -> Await.get(flow) && Await.get(other.inspect(key)) instanceof LockInfo.Held);

        line.cut().run();
        assertThat(Await.get(other.forceRelease(key))).isTrue();
        LockHandle held = Await.get(other.acquire(key));

        Await.until("no flow gets it from its client", contract.longestToNotice(), () -> !Await.get(flow));
        assertThat(Await.get(flow)).isFalse();
        line.mend().run();
        Await.run(held.release());
        Await.until("it has the lock again", () -> Await.get(flow));
    }

    @Test
    void itIsShownAsItsOwnersAndItsReleaseIsTold() {
        LockClient keeper = keeper(KEPT.withOwner("the keeper"));
        LockClient other = client();
        long token = kept(keeper);
        Queue<LockEvent> events = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> watched =
                other.events(key).doOnNext(events::add).then().toFuture();
        Await.until("the watch is in force", () -> !events.isEmpty());

        LockInfo.Held shown = Await.get(other.inspect(key)).held().orElseThrow();
        assertThat(shown.owner()).isEqualTo("the keeper");
        assertThat(shown.recallable()).isTrue();
        assertThat(Await.get(other.isCurrent(key, token))).isTrue();
        Await.run(Await.get(other.acquire(key)).release());

        Await.until("its release is told", () -> events.contains(new LockEvent.Released(key, token)));
        assertThat(Await.get(other.isCurrent(key, token))).isFalse();
        assertThat(watched.cancel(true)).isTrue();
    }

    @Test
    void oneWhoOnlyWaitsForItsReleaseCallsItBack() {
        LockClient keeper = keeper(KEPT);
        long token = kept(keeper);

        Await.run(client().awaitRelease(key));

        assertThat(kept(keeper)).isGreaterThan(token + 1);
    }

    @Test
    void anOperatorEndsItAndTheNextFlowAsksTheStore() {
        LockClient keeper = keeper(KEPT);
        long token = kept(keeper);

        assertThat(Await.get(client().forceRelease(key))).isTrue();

        // A flow that comes before the push has a hold that is lost.
        Mono<Long> next = keeper.withLock(key, held -> Mono.just(held.fencingToken()))
                .onErrorReturn(LockLostException.class, token);
        Await.until(
                "it is given to no flow any more",
                () -> FencingTokens.granted(Await.get(next)) > FencingTokens.granted(token));
    }

    @Test
    void closeGivesItBack() {
        LockClient keeper = keeper(KEPT);
        kept(keeper);

        Await.run(keeper.close());

        assertThat(isFree(client(), key)).isTrue();
    }

    @Test
    void noUpdateIsLostAmongClientsThatKeepLocksAndOthers() {
        LockClient first = canKeep();
        List<LockClient> clients = IntStream.range(0, 4)
                .mapToObj(i -> i == 0 ? first.with(KEPT) : client().with(i == 3 ? DEFAULTS : KEPT))
                .toList();
        LostUpdateCounter counter = new LostUpdateCounter();

        Await.run(
                Flux.range(0, 8)
                        .flatMap(
                                flow -> clients.get(flow % 4)
                                        .withLock(key, counter.increment())
                                        .then(Mono.delay(Duration.ofMillis(flow)))
                                        .repeat(49),
                                8)
                        .then(),
                Await.LONG_LIMIT);

        counter.verify();
        assertThat(counter.value()).isEqualTo(400);
    }

    /** As a store sees it. */
    @Test
    void theOwnerIsCalledBackByEachQuestionOfAClaimThatWaits() {
        canKeep();
        LockBackend store = closedAtTheEnd(contract.newBackend());
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> heard =
                store.signals().doOnNext(signals::add).then().toFuture();
        Await.until("signals come", () -> !signals.isEmpty());
        Claim owner = claim(Claim.Mode.QUEUE, true);
        Claim waits = claim(Claim.Mode.QUEUE, false);
        Claim tries = claim(Claim.Mode.TRY, false);
        Signal recall = new Signal.Recall(owner.id());

        assertThat(Await.get(store.claim(owner))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(Await.get(store.claim(tries))).isInstanceOf(ClaimResult.Queued.class);
        Await.until("the try calls back", () -> count(signals, recall) >= 1);
        assertThat(Await.get(store.release(tries))).isFalse();
        assertThat(Await.get(store.claim(waits))).isInstanceOf(ClaimResult.Queued.class);
        Await.until("the claim calls back", () -> count(signals, recall) >= 2);
        for (int refusals = 0; refusals < 5; refusals++) {
            assertThat(Await.get(store.claim(claim(Claim.Mode.TRY, false)))).isInstanceOf(ClaimResult.Busy.class);
        }
        assertThat(Await.get(store.claim(waits))).isInstanceOf(ClaimResult.Queued.class);
        Await.until("so does its next question", () -> count(signals, recall) >= 3);
        assertThat(Await.get(store.release(owner))).isTrue();
        assertThat(Await.get(store.claim(claim(Claim.Mode.TRY, false)))).isInstanceOf(ClaimResult.Busy.class);
        assertThat(Await.get(store.claim(waits))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(Await.get(store.release(waits))).isTrue();

        assertThat(count(signals, recall))
                .as("a store may tell each recall again, and refusals, which are five more, call nothing back")
                .isBetween(3L, 6L);
        assertThat(heard.cancel(true)).isTrue();
    }

    /** As a store sees a lock whose hold was lost, with a delay. */
    @Test
    void whatStaysTakenAfterItsHoldIsNotCalledBack() {
        canKeep();
        LockBackend store = closedAtTheEnd(contract.newBackend());
        Queue<Signal> signals = new ConcurrentLinkedQueue<>();
        CompletableFuture<Void> heard =
                store.signals().doOnNext(signals::add).then().toFuture();
        Await.until("signals come", () -> !signals.isEmpty());
        Claim owner = claim(Claim.Mode.QUEUE, true);
        String id = UUID.randomUUID().toString().substring(0, 22);
        Claim stays = new Claim(key, id, "a claim", Duration.ofMinutes(1), Claim.Mode.TRY, Claim.Keeping.ONCE);
        Claim waits = claim(Claim.Mode.QUEUE, false);
        ClaimResult granted = Await.get(store.claim(owner));

        assertThat(Await.get(store.keep(owner, stays))).isTrue();
        assertThat(Await.get(store.keep(owner, stays))).isTrue();

        LockInfo.Held shown = Await.get(store.inspect(key)).held().orElseThrow();
        assertThat(shown.recallable()).isFalse();
        assertThat(shown.fencingToken()).isEqualTo(((ClaimResult.Granted) granted).fencingToken());
        assertThat(Await.get(store.claim(claim(Claim.Mode.TRY, false)))).isInstanceOf(ClaimResult.Busy.class);
        assertThat(Await.get(store.claim(waits))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(Await.get(store.claim(waits))).isInstanceOf(ClaimResult.Queued.class);
        Await.run(store.recall(key));
        Boolean over = Await.get(store.release(stays));
        assertThat(over).isTrue();
        Await.until("it is served", () -> Await.get(store.claim(waits)) instanceof ClaimResult.Granted);
        assertThat(Await.get(store.release(waits))).isTrue();

        assertThat(signals).noneMatch(Signal.Recall.class::isInstance);
        assertThat(heard.cancel(true)).isTrue();
    }

    private static long count(Queue<Signal> signals, Signal signal) {
        return signals.stream().filter(signal::equals).count();
    }

    private Claim claim(Claim.Mode mode, boolean recallable) {
        String id = UUID.randomUUID().toString().substring(0, 22);
        Claim plain = new Claim(key, id, "a claim", Duration.ofMinutes(1), mode);
        return new Claim(
                plain.key(), id, plain.owner(), plain.lease(), mode, plain.keeping(), plain.share(), recallable);
    }
}
