package io.github.reactivelock;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.engine.user.HeardRequest;
import io.github.reactivelock.engine.user.UserCallbacks;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** What a listener hears of a request, from the beginning of its wait to the end of its hold. */
class LockListenerTest {

    private static final Duration TICK = Duration.ofMillis(250);

    private final Stories stories = new Stories();
    private final Bench bench = new Bench(settings -> settings.listener(stories));
    private final ScriptedBackend store = bench.store;

    private void assertTold(String... events) {
        assertThat(stories.log).containsExactly(events);
        stories.assertAllAreComplete();
        bench.assertNothingIsLeft();
    }

    @Test
    void aBuilderSaysWhichListenerIsSet() {
        assertThat(LockClient.builder(store).listener()).isEmpty();
        assertThat(bench.over(store).listener()).containsSame(bench.heard);
    }

    @Test
    void aFlowWaitsGetsItsLockAndReleasesItAndItsContextIsThere() {
        subscribe(bench.client
                .withLock("k", Mono.delay(Duration.ofSeconds(3), bench.time))
                .contextWrite(context -> context.put("trace", "t1")));
        bench.time.advance(Duration.ofSeconds(1));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        bench.time.advance(Duration.ofSeconds(3));

        assertTold("k waiting t1", "k acquired PT1S", "k released PT3S");
        assertThat(stories.told).hasSize(1);
    }

    @Test
    void aWaitThatEndsOtherwiseIsToldOfAsWhatItWas() {
        bench.engine.services.gate.opening.answered();
        subscribe(bench.with(o -> o.withWaitTimeout(Duration.ofSeconds(1))).acquire("late"));
        TestSubscriber<LockHandle> cancelled = subscribe(bench.client.acquire("cancelled"));
        TestSubscriber<Object> unworked = subscribe(bench.client.withLock("unworked", Mono.empty()));
        subscribe(bench.client.tryAcquire("busy"));
        subscribe(bench.client.acquire("refused"));
        List<Asked<ClaimResult>> asked =
                IntStream.range(0, 5).mapToObj(i -> store.claim()).toList();

        cancelled.cancel();
        unworked.cancel();
        asked.get(0).answer(ScriptedBackend.queued());
        asked.get(3).answer(new ClaimResult.Busy());
        asked.get(4).fail();
        bench.time.advance(Duration.ofSeconds(1));
        subscribe(bench.client.close());
        subscribe(bench.client.acquire("closed"));

        assertThat(stories.log)
                .contains(
                        "late timedOut lock 'late' was not granted within 1000 ms; wait longer (LockOptions.withWaitTimeout), or see who holds it with inspect",
                        "cancelled cancelled ",
                        "unworked cancelled ",
                        "busy busy ",
                        "refused unavailable LockUnavailableException",
                        "closed unavailable LockClientClosedException");
        assertThat(stories.told).hasSize(6);
        stories.assertAllAreComplete();
    }

    @Test
    void aPassAndEachOfSeveralKeysAreReported() {
        TestSubscriber<Void> first = subscribe(bench.client.withLock("k", Mono.never()));
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        subscribe(bench.client.withLock(List.of("k", "l"), Mono.empty()));

        first.cancel();
        Asked<ClaimResult> next = store.claim();
        next.answer(ScriptedBackend.granted(next.claim(), 2));

        assertThat(stories.log)
                .containsExactly(
                        "k waiting none",
                        "k acquired PT0S",
                        "k waiting none",
                        "k released PT0S",
                        "k passed " + (ScriptedBackend.token(1) + 1),
                        "k acquired PT0S",
                        "l waiting none",
                        "l acquired PT0S",
                        "k released PT0S",
                        "l released PT0S");
        stories.assertAllAreComplete();
    }

    @Test
    void aHoldWhoseRenewalFailsIsAtRiskAndSafeAgainWhenOneSucceeds() {
        LockHandle held = bench.hold("k", 1);
        bench.time.advance(LEASE.dividedBy(3).plus(TICK));
        Asked<RenewalResult> renewal = store.renewal();
        store.confirmsRenewals = true;

        renewal.fail();
        bench.time.advance(TICK.multipliedBy(2));
        subscribe(held.release());

        assertTold(
                "k waiting none",
                "k acquired PT0S",
                "k renewalFailed the store refused",
                "k atRisk PT19.448S a cause",
                "k safeAgain " + held.fencingToken(),
                "k released PT10.75S");
    }

    @Test
    void aHoldWithoutConfirmationIsAtRiskUntilItIsLost() {
        bench.hold("k", 1);

        bench.time.advance(LEASE);

        assertThat(stories.stories())
                .singleElement()
                .asString()
                .startsWith("waiting acquired renewalFailed atRisk renewalFailed")
                .endsWith("renewalFailed lost");
        stories.assertAllAreComplete();
    }

    @Test
    void aHoldWithoutAConnectionIsAtRiskAfterHalfOfItsLease() {
        bench.hold("k", 1);
        store.disconnect();

        bench.time.advance(LEASE);

        assertThat(stories.log)
                .containsExactly(
                        "k waiting none", "k acquired PT0S", "k atRisk PT14.698S no cause", "k lost UNREACHABLE");
    }

    @Test
    void aHoldThatIsNotRenewedIsAtRiskToo() {
        bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);

        bench.time.advance(LEASE.dividedBy(2));
        assertThat(stories.log).endsWith("k atRisk PT14.698S no cause");
        bench.time.advance(LEASE);

        assertTold("k waiting none", "k acquired PT0S", "k atRisk PT14.698S no cause", "k lost EXPIRED");
    }

    @Test
    void aHoldThatIsLostBeforeItsFlowHasItIsAcquiredFirst() {
        subscribe(bench.client.acquire("k"));
        Asked<ClaimResult> asked = store.claim();
        bench.work.shut();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
        bench.time.advance(LEASE);

        bench.work.open();

        assertThat(stories.stories())
                .singleElement()
                .asString()
                .startsWith("waiting acquired")
                .endsWith("lost");
    }

    @Test
    void aCancelThatCrossesTheGrantIsAHoldThatIsGivenBack() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        Asked<ClaimResult> asked = store.claim();
        bench.work.shut();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        flow.cancel();
        bench.work.open();

        assertTold("k waiting none", "k acquired PT0S", "k released PT0S");
    }

    @Test
    void theWaitForALaterKeyIsToldOfOnTheWorkScheduler() {
        subscribe(bench.client.withLock(List.of("k", "l"), Mono.empty()));
        Asked<ClaimResult> asked = store.claim();
        bench.work.shut();

        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        assertThat(stories.log).containsExactly("k waiting none");
        bench.work.open();
        assertThat(stories.log).containsExactly("k waiting none", "k acquired PT0S", "l waiting none");
    }

    @Test
    void anAcquisitionThatJoinsAHoldIsNotToldOf() {
        InMemoryLockBackend memory = InMemoryLockBackend.create(bench.time::nanos);
        LockClient client = bench.over(memory).listener(stories).build();

        subscribe(client.withLock("k", client.withLock("k", Mono.empty())));

        assertTold("k waiting none", "k acquired PT0S", "k released PT0S");
    }

    @Test
    void withoutAListenerNoRequestIsMade() {
        UserCallbacks deaf = new UserCallbacks(LockClient.builder(store).settings());

        assertThat(HeardRequest.of(deaf, "k", LockOptions.defaults(), reactor.util.context.Context.empty()))
                .isNull();
    }

    /** Grants, timeouts, cancels and losses meet on many threads; each story is one that may be told. */
    @Test
    void everyStoryIsCompleteHoweverItsEventsRace() {
        LockClient client = LockClient.builder(InMemoryLockBackend.create())
                .listener(stories)
                .build();
        LockClient hasty = client.with(LockOptions.defaults().withWaitTimeout(Duration.ofNanos(200_000)));
        CompletableFuture<Void> all = Flux.range(0, 3_000)
                .flatMap(
                        i -> {
                            LockClient by = i % 3 == 0 ? hasty : client;
                            Mono<Object> flow =
                                    by.withLock(i % 2 == 0 ? List.of("a") : List.of("a", "b"), Mono.empty());
                            Mono<Object> ended =
                                    i % 5 == 0 ? client.forceRelease("a").then(flow) : flow;
                            Duration patience =
                                    Duration.ofNanos(ThreadLocalRandom.current().nextInt(2_000_000));
                            return (i % 4 == 0 ? ended.takeUntilOther(Mono.delay(patience)) : ended)
                                    .onErrorResume(LockException.class, e -> Mono.empty());
                        },
                        64)
                .then()
                .toFuture();

        all.join();
        client.close().block();

        assertThat(stories.told).hasSizeGreaterThan(3_000);
        long limit = System.nanoTime() + Duration.ofMinutes(1).toNanos();
        while (!stories.areComplete() && System.nanoTime() - limit < 0) {
            Thread.onSpinWait();
        }
        stories.assertAllAreComplete();
    }
}
