package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** How many claims may be unanswered where the store is late, and where it is not. */
class WindowTest extends GateFlows {

    private static final Duration TOO_LONG = COMMAND_TIMEOUT.plus(TICK);

    private final Window window = bench.engine.services.gate.window;

    private void answerAll(int count) {
        IntStream.range(0, count).forEach(i -> store.claim().answer(ScriptedBackend.queued()));
    }

    @Test
    void halfAsManyAsWereUnansweredWhenNoneIsInTime() {
        flows(100);
        bench.time.advance(TOO_LONG);
        assertThat(window.width()).isEqualTo(50);

        store.ignoreAll();
        flows(100);
        assertThat(store.count("claim")).isEqualTo(50);
        bench.time.advance(TOO_LONG);

        assertThat(window.width()).isEqualTo(25);
    }

    @Test
    void neverFewerThanALateStoreCanBear() {
        for (int i = 0; i < 20; i++) {
            flows(10);
            bench.time.advance(TOO_LONG);
        }

        assertThat(window.width()).isEqualTo(Window.LEAST);
    }

    @Test
    void whatIsAnsweredLateAfterThatTellsNothingNew() {
        flows(100);
        bench.time.advance(TOO_LONG);
        answerAll(100);

        assertThat(window.width()).isEqualTo(50);
    }

    @Test
    void eachQuickAnswerLetsOneMoreLeaveInOrder() {
        flows(40);
        bench.time.advance(TOO_LONG);
        store.ignoreAll();
        store.ids.clear();
        flows(100);

        answerAll(30);

        assertThat(window.width()).isEqualTo(20 + 30);
        assertThat(store.count("claim")).isEqualTo(20 + 2 * 30);
        answerAll(50);
        assertThat(store.count("claim")).isEqualTo(100);
        assertThat(store.ids)
                .isEqualTo(store.ids.stream()
                        .sorted((a, b) -> Long.compare(number(a), number(b)))
                        .toList());
    }

    private static long number(String id) {
        return Long.parseLong(id.substring(id.indexOf('.') + 1), Character.MAX_RADIX);
    }

    @Test
    void itGrowsSlowlyWhereAnswersAreNearlyLate() {
        flows(40);
        bench.time.advance(TOO_LONG);
        store.ignoreAll();
        flows(20);
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));

        answerAll(20);

        assertThat(window.width()).isEqualTo(21);
    }

    @Test
    void aPartOfTheStoreThatIsSilentHoldsUpNoOther() {
        flows(100);
        bench.time.advance(COMMAND_TIMEOUT.dividedBy(2));
        answerAll(1);
        bench.time.advance(TOO_LONG);

        assertThat(window.width()).isEqualTo(Window.MOST);
    }

    @Test
    void claimsThatStandInALineOfTheBackendDoNotMakeItLate() {
        bench.store.holdsBack = claim -> true;
        List<TestSubscriber<LockHandle>> flows = flows(100);
        flows.get(0).cancel();
        for (int i = 0; i < 5; i++) {
            bench.time.advance(COMMAND_TIMEOUT.dividedBy(2));
            bench.engine.services.gate.heard(bench.engine.services.timing.now());
        }
        bench.store.holdsBack = claim -> false;
        answerAll(100);

        assertThat(failed(flows)).isZero();
        assertThat(window.width()).isEqualTo(Window.MOST);
    }

    @Test
    void aStoreThatRefusesAtOnceIsNotLate() {
        flows(100);
        IntStream.range(0, 100).forEach(i -> store.claim().fail());

        assertThat(window.width()).isEqualTo(Window.MOST);
        assertThat(window.unanswered()).isZero();
    }

    @Test
    void whatIsGivenUpCountsForItsTimeWhereTheStoreIsLate() {
        flows(40);
        bench.time.advance(TOO_LONG);
        store.ignoreAll();
        flows(100).forEach(TestSubscriber::cancel);
        bench.time.advance(TICK);
        flows(10);
        assertThat(store.count("claim")).isEqualTo(20);
        assertThat(window.unanswered()).isEqualTo(20);
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));

        assertThat(store.count("claim")).isEqualTo(30);
        answerAll(30);
        assertThat(window.unanswered()).isZero();
    }

    @Test
    void releasesLeaveThoughTheWindowIsFull() {
        LockHandle held = bench.hold("other", 1);
        flows(40);
        bench.time.advance(TOO_LONG);
        flows(100);
        store.log.clear();

        TestSubscriber<Void> released = subscribe(held.release());

        assertThat(store.log).hasSize(1);
        assertThat(released.isTerminated()).isTrue();
    }

    @Test
    void whoeverWaitsBehindFewHearsThatNoClaimIsAnsweredThoughReleasesAre() {
        List<TestSubscriber<LockHandle>> flows = flows(100);
        bench.time.advance(TOO_LONG);
        flows(1_000);
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK.multipliedBy(2)));
        assertThat(failed(flows)).isEqualTo(100);
        List<TestSubscriber<LockHandle>> more = flows(1_000);

        bench.time.advance(TOO_LONG.plus(TICK));

        assertThat(failed(more)).isEqualTo(1_000);
        assertThat(more.get(999).expectTerminalError()).hasMessageContaining("it waited in this process");
    }

    @Test
    void claimsThatStandInALineOfTheBackendTakeNoTurnFromOthers() {
        List<TestSubscriber<LockHandle>> flows = flows(20);
        store.holdsBack = claim -> claim.key().equals("k") && !claim.id().equals(bench.claimId(0));
        for (int i = 0; i < 9; i++) { // the first one is stuck, and the store answers renewals
            bench.time.advance(TICK);
            bench.engine.services.gate.heard(bench.engine.services.timing.now());
        }
        assertThat(failed(flows)).isOne();
        assertThat(window.isNarrow()).isTrue();
        assertThat(window.unanswered()).isEqualTo(19);

        subscribe(bench.client.acquire("other"));

        assertThat(store.count("claim")).isEqualTo(21);
        store.holdsBack = claim -> false;
        bench.time.advance(TICK);
        flows(1);
        assertThat(store.count("claim")).as("they have left by now").isEqualTo(21);
        store.claim();
        answerAll(20);
        assertThat(store.count("claim")).isEqualTo(22);
    }

    @Test
    void anEarlySecondQuestionOfAShortLeaseTellsNothingOfTheStore() {
        LockClient brief = bench.with(options -> options.withLease(Duration.ofMillis(600)));
        subscribe(brief.acquire("brief"));
        answerAll(1);

        bench.time.advance(Duration.ofMillis(600));

        assertThat(store.count("claim")).as("one was given up and asked again").isEqualTo(3);
        assertThat(window.width()).isEqualTo(Window.MOST);
    }

    @Test
    void whoeverWaitsBehindClaimsThatAreRefusedHearsOfThatAndNotOfSilence() {
        flows(10);
        bench.time.advance(TOO_LONG);
        store.ignoreAll();
        List<TestSubscriber<LockHandle>> flows = flows(10 * Window.LEAST);

        for (int i = 0; i < 10; i++) {
            bench.time.advance(Duration.ofMillis(300));
            IntStream.range(0, Window.LEAST).forEach(each -> store.claim().fail());
        }

        assertThat(flows)
                .allSatisfy(flow -> assertThat(flow.expectTerminalError()).hasMessageContaining("the store refused"));
    }

    @Test
    void anAnswerToATrysOlderQuestionLeavesTheNewerOneUncounted() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.tryAcquire("k"));
        answerAll(1);
        bench.time.advance(Bench.LEASE.dividedBy(3).plus(TICK));
        bench.time.advance(TOO_LONG.plus(TICK.multipliedBy(2)));
        assertThat(store.count("claim")).isEqualTo(3);

        store.claim().answer(new ClaimResult.Busy());
        bench.time.advance(TOO_LONG.multipliedBy(2));

        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(window.unanswered()).isZero();
    }
}
