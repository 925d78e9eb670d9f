package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.LEASE;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.engine.store.Gate;
import io.github.reactivelock.engine.store.GateFlows;
import io.github.reactivelock.engine.store.Window;
import io.github.reactivelock.spi.ClaimResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** What leaves for the store when there is very much to ask, or when it has fallen silent. */
class GateLoadTest extends GateFlows {

    @Test
    void onlySoManyClaimsAreUnansweredAndTheOthersLeaveInTheirOrder() {
        flows(Window.MOST + 100);
        assertThat(store.count("claim")).isEqualTo(Window.MOST);

        for (int i = 0; i < 60; i++) {
            store.claim().answer(ScriptedBackend.queued());
        }

        assertThat(store.count("claim")).isEqualTo(Window.MOST + 60);
        assertThat(store.ids).doesNotHaveDuplicates().isEqualTo(inOrder(store.ids));
    }

    @Test
    void whoeverComesWhileATurnIsOnItsWayOvertakesNobody() throws Exception {
        flows(Window.MOST);
        TestSubscriber<LockHandle> first = flows(1).get(0);
        Cohort cohort = bench.engine.cohortOf(store.claim().claim().id());
        CountDownLatch busy = new CountDownLatch(1);
        CountDownLatch seen = new CountDownLatch(1);
        Thread other = new Thread(() -> cohort.post(() -> {
            busy.countDown();
            awaitUnchecked(seen);
        }));
        other.start();
        awaitUnchecked(busy);

        store.claim().answer(ScriptedBackend.queued()); // what follows stands in the mailbox of the lock
        store.claim().answer(ScriptedBackend.queued());
        TestSubscriber<LockHandle> second = flows(1).get(0);
        seen.countDown();
        other.join();

        assertThat(store.ids).hasSize(Window.MOST + 2).isEqualTo(inOrder(store.ids));
        assertThat(first.isTerminated() || second.isTerminated()).isFalse();
    }

    private static void awaitUnchecked(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
    }

    private static List<String> inOrder(List<String> ids) {
        return ids.stream().sorted((a, b) -> Long.compare(number(a), number(b))).toList();
    }

    private static long number(String id) {
        return Long.parseLong(id.substring(id.indexOf('.') + 1), Character.MAX_RADIX);
    }

    @Test
    void standingInTheLineOfThisProcessIsNotTheStoresSilence() {
        List<TestSubscriber<LockHandle>> flows = flows(Window.MOST + 100);
        List<Asked<ClaimResult>> asked = new ArrayList<>();
        for (int i = 0; i < Window.MOST; i++) {
            asked.add(store.claim());
        }
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));
        asked.forEach(one -> one.answer(ScriptedBackend.queued()));
        bench.time.advance(COMMAND_TIMEOUT.minus(TICK));

        assertThat(failed(flows)).isZero();
        assertThat(store.count("claim")).isEqualTo(Window.MOST + 100);
    }

    /** Releases are answered, so as many claims leave as the halved window lets; which ones depends on the ids. */
    @Test
    void aStoreThatAnswersNoClaimIsToldWithTheNumberOfThoseBefore() {
        List<TestSubscriber<LockHandle>> flows = flows(3 * Window.MOST);

        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));

        assertThat(failed(flows)).isEqualTo(flows.size());
        assertThat(flows.get(0).expectTerminalError()).hasMessageContaining("did not answer within 2000 ms");
        int left = (int) store.count("claim");
        assertThat(left).isBetween(Window.MOST, Window.MOST + Window.MOST / 2);
        assertThat(flows.stream()
                        .map(flow -> flow.expectTerminalError().getMessage())
                        .filter(message -> message.contains("it waited in this process")))
                .hasSize(flows.size() - left)
                .allMatch(message -> message.contains("questions of which the store answered none"))
                .allMatch(message -> message.contains("look at the server of '"));
    }

    @Test
    void aSilentStoreGetsAFewQuestionsAndAllOfThemOnceItAnswers() {
        store.confirmsReleases = false;
        flows(1_000);
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK)); // they fail, and their releases wait
        store.ignoreAll();

        for (int second = 0; second < 20; second++) {
            flows(150);
            bench.time.advance(Duration.ofSeconds(1));
        }
        assertThat(store.log.size()).as("questions in 20 s of silence").isBetween(20, 100);
        Asked<Boolean> asked = store.release();
        store.log.clear();
        List<TestSubscriber<LockHandle>> last = flows(10);
        asked.answer(false);

        assertThat(store.count("claim")).isGreaterThanOrEqualTo(10);
        assertThat(store.count("release")).isBetween(900L, 1_300L);
        assertThat(failed(last)).isZero();
    }

    @Test
    void releasesWhoseLeaseIsOverKeepNobodyFromAskingASilentStore() {
        store.confirmsReleases = false;
        flows(1_000);
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK)); // they fail, and their releases wait
        bench.time.advance(LEASE.plus(COMMAND_TIMEOUT).plus(TICK)); // until they are not needed any more
        store.ignoreAll();

        flows(1);
        bench.time.advance(Duration.ofSeconds(1));

        assertThat(store.log).hasSize(1);
        store.claim().answer(ScriptedBackend.queued());
        assertThat(bench.engine.services.gate.isOpen()).isTrue();
    }

    @Test
    void aStoreThatCannotEvenBeAskedIsNotTakenForASilentOne() {
        store.broken = new NoClassDefFoundError("of the driver");
        assertThat(failed(flows(2 * Gate.MOST_IN_SILENCE))).isEqualTo(2 * Gate.MOST_IN_SILENCE);
        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));

        assertThat(failed(flows(10))).isEqualTo(10);
    }

    @Test
    void aStoreThatWasIdleIsNotTakenForASilentOne() {
        bench.hold("k", 1);
        bench.time.advance(Duration.ofSeconds(60));
        store.log.clear();

        flows(2 * Gate.MOST_IN_SILENCE);

        assertThat(store.count("claim")).isEqualTo(2 * Gate.MOST_IN_SILENCE);
    }

    @Test
    void flowsThatGiveUpMakeRoomForOthers() {
        List<TestSubscriber<LockHandle>> flows = flows(Window.MOST + 10);
        store.log.clear();

        flows.subList(0, 10).forEach(TestSubscriber::cancel);

        assertThat(store.count("claim")).isEqualTo(10);
        assertThat(store.count("release")).isEqualTo(10);
    }
}
