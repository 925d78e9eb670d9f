package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Mono;
import reactor.test.publisher.TestPublisher;
import reactor.test.subscriber.TestSubscriber;

/** How a withLock over a Mono ends: the rows of the table in LockClient, and the value's fate. */
class WithLockMonoTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;
    private final List<Object> discarded = new ArrayList<>();
    private final IllegalStateException own = new IllegalStateException("the work's own");

    @Test
    void theValueComesAfterTheReleaseIsConfirmed() {
        store.confirmsReleases = false;
        TestSubscriber<String> flow = locked(Mono.just("v"));
        assertThat(flow.getReceivedOnNext()).isEmpty();

        store.release().answer(true);

        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(bench.heard.released).hasSize(1);
    }

    @Test
    void theValueComesAlsoWhenTheReleaseFails() {
        store.confirmsReleases = false;
        TestSubscriber<String> flow = locked(Mono.just("v"));

        store.release().fail();

        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        assertThat(flow.isTerminatedComplete()).isTrue();
        assertThat(bench.heard.unreleased)
                .singleElement()
                .satisfies(e -> assertThat(e).hasMessageContaining("the store refused"));
        assertThat(bench.heard.released).isEmpty();
    }

    @Test
    void theValueComesAlsoWhenTheStoreSaysThatTheHoldWasGone() {
        store.confirmsReleases = false;
        TestSubscriber<String> flow = locked(Mono.just("v"));

        store.release().answer(false);

        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        assertThat(bench.heard.lost).extracting(LockLostException::reason).containsExactly(LossReason.EXPIRED);
    }

    @Test
    void theWorksOwnErrorComesAfterTheReleaseWasTriedHoweverThatEnds() {
        store.confirmsReleases = false;
        for (boolean confirmed : List.of(true, false)) {
            TestSubscriber<String> flow = locked(Mono.error(own));
            assertThat(flow.isTerminated()).isFalse();
            Asked<Boolean> release = store.release();
            if (confirmed) {
                release.answer(true);
            } else {
                release.fail();
            }

            assertThat(flow.expectTerminalError()).isSameAs(own);
        }
    }

    @Test
    void aSubscriberThatCancelsSeesNothingAndTheReleaseGoesOn() {
        AtomicBoolean cancelled = new AtomicBoolean();
        TestSubscriber<String> flow = locked(Mono.<String>never().doOnCancel(() -> cancelled.set(true)));

        flow.cancel();

        assertThat(cancelled).isTrue();
        assertThat(store.log).containsExactly("claim .0", "release .0");
        assertThat(flow.isTerminated()).isFalse();
        bench.assertNothingIsLeft();
    }

    @Test
    void aCancelBeforeTheEndOrDuringTheReleaseDiscardsTheValue() {
        TestPublisher<String> work = TestPublisher.createNoncompliant(TestPublisher.Violation.CLEANUP_ON_TERMINATE);
        TestSubscriber<String> early = locked(Mono.fromDirect(work));
        work.next("early");
        early.cancel();
        store.confirmsReleases = false;
        TestSubscriber<String> during = locked(Mono.just("during"));
        during.cancel();
        store.release().answer(true);

        assertThat(discarded).containsExactly("early", "during");
    }

    @Test
    void emptyAndVoidWorkCompleteEmpty() {
        TestSubscriber<String> empty = locked(Mono.empty());
        TestSubscriber<Void> nothing = subscribe(bench.client.withLock("l", Mono.<Void>empty()));
        grant();

        assertThat(empty.isTerminatedComplete() && nothing.isTerminatedComplete())
                .isTrue();
        assertThat(store.count("release")).isEqualTo(2);
    }

    @Test
    void workThatThrowsOrIsNullFailsAndReleases() {
        Function<LockHandle, Mono<String>> throwing = held -> {
            throw own;
        };
        TestSubscriber<String> thrown = subscribe(bench.client.withLock("k", throwing));
        grant();
        TestSubscriber<String> isNull = subscribe(bench.client.withLock("k", held -> (Mono<String>) null));
        grant();

        assertThat(thrown.expectTerminalError()).isSameAs(own);
        assertThat(isNull.expectTerminalError()).isInstanceOf(NullPointerException.class);
        assertThat(store.count("release")).isEqualTo(2);
        bench.assertNothingIsLeft();
    }

    @Test
    void workThatThrowsAFatalErrorFailsAndReleasesToo() {
        Function<LockHandle, Mono<String>> throwing = held -> {
            throw new NoClassDefFoundError("gone");
        };
        TestSubscriber<String> flow = subscribe(bench.client.withLock("k", throwing));
        grant();

        assertThat(flow.expectTerminalError()).isInstanceOf(NoClassDefFoundError.class);
        bench.assertNothingIsLeft();
    }

    @Test
    void workCancelledDuringItsCallKeepsItsLockUntilTheCallReturns() {
        TestSubscriber<String> flow = TestSubscriber.create();
        List<String> during = new ArrayList<>();
        AtomicBoolean ran = new AtomicBoolean();
        bench.client
                .withLock("k", held -> {
                    flow.cancel();
                    during.addAll(store.log);
                    return Mono.fromCallable(() -> "ran " + ran.getAndSet(true));
                })
                .subscribe(flow);
        grant();

        assertThat(during).containsExactly("claim .0");
        assertThat(store.log).containsExactly("claim .0", "release .0");
        assertThat(ran).isFalse();
        bench.assertNothingIsLeft();
    }

    @Test
    void aLockIsKeptUntilTheCancelHasReturnedThoughTheCallReturnsBefore() throws InterruptedException {
        TestSubscriber<String> flow = TestSubscriber.create();
        CancelThatTakesItsTime cancel = new CancelThatTakesItsTime();
        AtomicReference<Subscription> locked = new AtomicReference<>();
        Thread canceller = new Thread(flow::cancel);
        bench.client
                .withLock("a", bench.client.withLock("b", Mono.<String>fromDirect(subscriber -> {
                    subscriber.onSubscribe(cancel);
                    canceller.start();
                    cancel.awaitBegin();
                    locked.get().cancel(); // a second time
                })))
                .doOnSubscribe(locked::set)
                .subscribe(flow);
        grant();
        grant();
        assertThat(store.log).containsExactly("claim .0", "claim .1");

        cancel.end();
        canceller.join();

        assertThat(store.log).containsExactly("claim .0", "claim .1", "release .1", "release .0");
        bench.assertNothingIsLeft();
    }

    @Test
    void aCancelThatThrowsGivesTheLockBackAllTheSame() {
        TestSubscriber<String> flow = locked(Mono.fromDirect(subscriber -> subscriber.onSubscribe(new Subscription() {
            @Override
            public void request(long n) {}

            @Override
            public void cancel() {
                throw own;
            }
        })));

        assertThatThrownBy(flow::cancel).isSameAs(own);

        bench.assertNothingIsLeft();
    }

    @Test
    void theWorksContextIsTheSubscribersAndTheWorkSeesItsHold() {
        TestSubscriber<String> flow = subscribe(bench.client
                .withLock(
                        "k",
                        held -> Mono.deferContextual(
                                context -> Mono.just(context.get("user") + " " + held.key() + " " + held.isHeld())))
                .contextWrite(context -> context.put("user", "u")));
        grant();

        assertThat(flow.getReceivedOnNext()).containsExactly("u k true");
    }

    /** A flow whose lock is granted at once. */
    private TestSubscriber<String> locked(Mono<String> work) {
        TestSubscriber<String> flow =
                subscribe(bench.client.withLock("k", work).doOnDiscard(Object.class, discarded::add));
        grant();
        return flow;
    }

    private void grant() {
        Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }

    /** Cancelled by one thread, which is kept until another lets it go. */
    private static final class CancelThatTakesItsTime implements Subscription {

        private final CountDownLatch begun = new CountDownLatch(1);
        private final CountDownLatch mayEnd = new CountDownLatch(1);

        @Override
        public void request(long n) {}

        @Override
        public void cancel() {
            begun.countDown();
            await(mayEnd);
        }

        void awaitBegin() {
            await(begun);
        }

        void end() {
            mayEnd.countDown();
        }

        private static void await(CountDownLatch latch) {
            try {
                assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
            } catch (InterruptedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
