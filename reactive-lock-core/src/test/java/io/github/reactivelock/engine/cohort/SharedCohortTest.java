package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.held;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.ScriptedBackend.granted;
import static io.github.reactivelock.ScriptedBackend.queued;
import static io.github.reactivelock.ScriptedBackend.token;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.CanIgnoreReturnValue;
import io.github.reactivelock.Door;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Readers of a process behind one claim, and the budget after which they stand behind another. */
class SharedCohortTest {

    private final Bench bench = new Bench(settings -> settings.passBudget(3, Duration.ofMillis(50)));
    private final ScriptedBackend store = bench.store;
    private final LockClient readers = Door.client(bench.engine, Door.share(bench.client.options(), Share.ONE));

    @AfterEach
    void nothingIsLeft() {
        bench.assertNothingIsLeft();
    }

    private List<TestSubscriber<LockHandle>> flows(int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> subscribe(readers.acquire("k")))
                .toList();
    }

    @CanIgnoreReturnValue
    private Claim grant(long number) {
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(granted(asked.claim(), number));
        return asked.claim();
    }

    private static void release(List<TestSubscriber<LockHandle>> flows) {
        flows.forEach(flow -> subscribe(held(flow).release()));
    }

    /** Readers keep no reader out; of a writer the store alone can tell. */
    @Test
    void aReaderRefusedByTheBudgetMeetsNoContentionWhileTheStoreIsSilent() {
        bench.engine.services.gate.opening.answered();
        List<TestSubscriber<LockHandle>> flows = flows(1);
        grant(1);
        bench.time.advance(Duration.ofMillis(50));

        TestSubscriber<LockHandle> refused =
                subscribe(readers.with(readers.options().withWaitTimeout(Duration.ofMillis(100)))
                        .acquire("k"));
        bench.time.advance(Duration.ofMillis(100));

        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .1");
        assertThat(refused.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
        release(flows);
    }

    /** They stood behind a writer before, and stand behind one again. */
    @Test
    void readersThatWereKeptOutBeforeTheBudgetWasSpentHearSo() {
        bench.engine.services.gate.opening.answered();
        List<TestSubscriber<LockHandle>> flows = flows(4);
        TestSubscriber<LockHandle> refused =
                subscribe(readers.with(readers.options().withWaitTimeout(Duration.ofMillis(100)))
                        .acquire("k"));
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(queued());
        store.push(asked.claim(), 1);
        store.ignoreAll();

        bench.time.advance(Duration.ofMillis(100));

        assertThat(refused.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
        release(flows);
    }

    @Test
    void readersThatWaitTogetherHaveOneClaimAndATokenEach() {
        List<TestSubscriber<LockHandle>> flows = flows(4);
        assertThat(store.log).containsExactly("claim .0");

        assertThat(grant(5).share()).isEqualTo(Share.ONE);

        assertThat(flows.stream().map(flow -> held(flow).fencingToken()))
                .containsExactlyElementsOf(
                        LongStream.range(0, 4).mapToObj(pass -> token(5) + pass).toList());
        release(flows.subList(0, 3));
        assertThat(store.log).containsExactly("claim .0");
        assertThat(held(flows.get(3)).isHeld()).isTrue();
        release(flows.subList(3, 4));
        assertThat(store.log).containsExactly("claim .0", "release .0");
    }

    @Test
    void aReaderThatComesIsInWithoutTheStoreUntilTheTimeIsUp() {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>(flows(1));
        grant(5);
        bench.time.advance(Duration.ofMillis(49));
        flows.addAll(flows(1));
        assertThat(held(flows.get(1)).fencingToken()).isEqualTo(token(5) + 1);
        assertThat(store.count("claim")).isEqualTo(1);

        bench.time.advance(Duration.ofMillis(1));
        flows.addAll(flows(2));

        assertThat(store.count("claim")).as("both behind one more").isEqualTo(2);
        Claim second = store.claim().claim();
        assertThat(flows.get(2).getReceivedOnNext()).isEmpty();
        release(flows.subList(0, 2));
        assertThat(store.log).endsWith("release .0");
        store.push(second, 9);
        assertThat(held(flows.get(3)).fencingToken()).isEqualTo(token(9) + 1);
        release(flows.subList(2, 4));
        assertThat(store.log).endsWith("release .1");
    }

    @Test
    void thoseThatTheBudgetRefusesStandBehindTheNextClaimInTheirOrder() {
        List<TestSubscriber<LockHandle>> flows = flows(6);
        grant(5);

        assertThat(flows.stream().map(flow -> flow.getReceivedOnNext().size())).containsExactly(1, 1, 1, 1, 0, 0);
        ScriptedBackend.Asked<ClaimResult> second = store.claim();
        second.answer(queued());
        flows.get(4).cancel();
        release(flows.subList(0, 4));
        store.push(second.claim(), 9);

        assertThat(held(flows.get(5)).fencingToken()).isEqualTo(token(9));
        release(flows.subList(5, 6));
    }

    @Test
    void whoCancelsBehindTheNextClaimWithdrawsIt() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5);
        store.claim().answer(queued());

        flows.get(4).cancel();

        assertThat(store.log).endsWith("release .1");
        release(flows.subList(0, 4));
    }

    @Test
    void aReaderWithAnotherLeaseOrNoRenewalHasItsOwnClaim() {
        List<TestSubscriber<LockHandle>> flows = new ArrayList<>(flows(1));
        LockClient brief = readers.with(readers.options().withLease(Duration.ofSeconds(5)));
        flows.add(subscribe(brief.acquire("k")));
        grant(5);
        flows.add(subscribe(brief.acquire("k")));
        flows.add(subscribe(readers.with(readers.options().withoutRenewal()).acquire("k")));

        assertThat(store.count("claim")).isEqualTo(4);
        for (int i = 0; i < 3; i++) {
            grant(6 + i);
        }
        release(flows);
        assertThat(store.count("release")).isEqualTo(4);
    }

    @Test
    void allReadersAreLostTogetherAndTheLastCancelReleasesTheClaim() {
        List<TestSubscriber<Object>> works = new ArrayList<>();
        List<String> cancelled = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            works.add(subscribe(readers.withLock("k", Mono.never().doOnCancel(() -> {
                cancelled.add("work");
                assertThat(store.count("release")).isZero();
            }))));
        }
        Claim claim = grant(5);
        bench.time.advance(Duration.ofMillis(60));
        TestSubscriber<LockHandle> later = subscribe(readers.acquire("k"));
        grant(6);

        store.push(new Signal.Suspect(claim.id(), LossReason.FORCED));
        ScriptedBackend.Asked<RenewalResult> renewal = store.renewal();
        renewal.answer(ScriptedBackend.lost(renewal.claims(), LossReason.EXPIRED));

        assertThat(cancelled).hasSize(2);
        assertThat(works)
                .allSatisfy(work -> assertThat(work.expectTerminalError())
                        .isInstanceOfSatisfying(
                                LockLostException.class,
                                loss -> assertThat(loss.reason()).isEqualTo(LossReason.FORCED)));
        assertThat(bench.heard.lost.stream().map(LockLostException::fencingToken))
                .containsExactly(token(5), token(5) + 1);
        assertThat(held(later).isHeld()).isTrue();
        assertThat(store.log).endsWith("release .0");
        subscribe(held(later).release());
    }

    @Test
    void oneThatIsHeldForTooLongIsLostAloneAndTheOthersStay() {
        LockClient brief = readers.with(readers.options().withMaxHold(Duration.ofMillis(200)));
        TestSubscriber<Object> tooLong = subscribe(brief.withLock("k", Mono.never()));
        List<TestSubscriber<LockHandle>> others = flows(1);
        grant(5);

        bench.time.advance(Duration.ofMillis(200));

        assertThat(tooLong.expectTerminalError())
                .isInstanceOfSatisfying(
                        LockLostException.class,
                        loss -> assertThat(loss.reason()).isEqualTo(LossReason.HELD_TOO_LONG));
        assertThat(held(others.get(0)).isHeld()).isTrue();
        assertThat(store.count("release")).isZero();
        release(others);
        assertThat(store.count("release")).isEqualTo(1);
    }

    @Test
    void aReadersShareHeldTooLongStaysInUseForItsDelay() {
        LockOptions brief =
                readers.options().withMaxHold(Duration.ofMillis(200)).withLockDelay(Duration.ofSeconds(2));
        TestSubscriber<Object> tooLong = subscribe(readers.with(brief).withLock("k", Mono.never()));
        grant(5);

        bench.time.advance(Duration.ofMillis(200));

        assertThat(tooLong.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(store.log).containsExactly("claim .0", "keep .0", "keep .1");
        assertThat(store.kept).extracting(Claim::share).containsExactly(Share.ONE);
        bench.time.advance(Duration.ofSeconds(3));
        assertThat(store.log).endsWith("release .1");
    }

    @Test
    void theLongestMinimumOfThoseThatHaveLeftCounts() {
        LockClient brief = readers.with(readers.options().withMinHold(Duration.ofSeconds(2)));
        TestSubscriber<LockHandle> first = subscribe(brief.acquire("k"));
        grant(5);
        List<TestSubscriber<LockHandle>> others = flows(1);
        release(List.of(first));
        assertThat(store.log).containsExactly("claim .0");

        release(others);

        assertThat(store.log).endsWith("keep .0", "keep .1");
        bench.time.advance(Duration.ofSeconds(3));
    }

    @Test
    void oneRenewalKeepsThemAll() {
        store.confirmsRenewals = true;
        List<TestSubscriber<LockHandle>> flows = flows(3);
        grant(5);

        bench.time.advance(Bench.LEASE.dividedBy(2));

        assertThat(store.count("renew")).isEqualTo(1);
        bench.time.advance(Bench.LEASE);
        assertThat(flows).allSatisfy(flow -> assertThat(held(flow).isHeld()).isTrue());
        release(flows);
    }

    @Test
    void closingEndsThemAllAndThoseThatWait() {
        List<TestSubscriber<LockHandle>> flows = flows(5);
        grant(5);
        store.claim().answer(queued());

        TestSubscriber<Void> closed = subscribe(bench.client.close());

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(flows.get(4).expectTerminalError()).isInstanceOf(LockClientClosedException.class);
        assertThat(flows.subList(0, 4))
                .allSatisfy(flow -> assertThat(held(flow).isHeld()).isFalse());
        assertThat(store.count("release")).isEqualTo(2);
    }

    @Test
    void theStoreAndNotTheReadersServesAWriterOfTheSameClient() {
        List<TestSubscriber<LockHandle>> flows = flows(2);
        grant(5);
        TestSubscriber<LockHandle> writer = subscribe(bench.client.acquire("k"));
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(queued());

        release(flows);

        assertThat(writer.getReceivedOnNext()).isEmpty();
        store.push(asked.claim(), 9);
        subscribe(held(writer).release());
    }
}
