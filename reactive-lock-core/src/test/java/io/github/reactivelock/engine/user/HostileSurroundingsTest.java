package io.github.reactivelock.engine.user;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.Door;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.ScriptedBackend.Asked;
import io.github.reactivelock.engine.time.Timing;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.test.StepVerifier;
import reactor.test.subscriber.TestSubscriber;

/** Listeners, handlers, hooks and schedulers that do what they should not. */
class HostileSurroundingsTest {

    /** Throws an Error, not an Exception, wherever it can. */
    private static final class Throwing implements LockListener {
        @Override
        public void acquired(LockRequest request, long fencingToken, Duration waited) {
            throw new AssertionError("acquired");
        }

        @Override
        public void released(LockRequest request, long fencingToken, Duration held) {
            throw new AssertionError("released");
        }

        @Override
        public void lost(LockRequest request, LockLostException loss) {
            throw new AssertionError("lost");
        }

        @Override
        public void releaseFailed(LockRequest request, LockUnavailableException failure) {
            throw new AssertionError("releaseFailed");
        }
    }

    private final Bench bench = new Bench();

    @Test
    void aListenerThatThrowsBreaksNothing() {
        InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
        LockClient client = bench.over(store).listener(new Throwing()).build();

        assertThat(subscribe(client.withLock("k", Mono.just("v"))).getReceivedOnNext())
                .containsExactly("v");
        LockHandle handle = Bench.held(subscribe(client.acquire("k")));
        TestSubscriber<LockLostException> lost = subscribe(handle.lost());
        subscribe(client.forceRelease("k"));

        assertThat(lost.getReceivedOnNext()).hasSize(1);
        assertThat(store.size()).isZero();
    }

    @Test
    void aListenerThatThrowsBreaksNoFailingReleaseEither() {
        Bench throwing = new Bench(settings -> settings.listener(new Throwing()));
        throwing.store.confirmsReleases = false;
        TestSubscriber<Void> released = subscribe(throwing.hold("k", 1).release());

        throwing.store.release().fail();

        assertThat(released.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aCancelHandlerThatBlocksDelaysTheEndOfItsOwnLockOnly() {
        List<String> log = bench.store.log;
        List<String> cancelled = new ArrayList<>();
        bench.store.confirmsRenewals = true;
        TestSubscriber<Object> slow = subscribe(bench.with(o -> o.withMaxHold(Duration.ofSeconds(5)))
                .withLock("slow", Mono.never().doOnCancel(() -> cancelled.add("slow after " + log))));
        grant();
        LockHandle other = bench.hold("other", 2);
        bench.work.shut(); // as a handler does that has every thread of it
        log.clear();

        bench.time.advance(LEASE);

        assertThat(cancelled).as("never on the timer").isEmpty();
        assertThat(log).doesNotContain("release .0").contains("renew .1");
        assertThat(other.isHeld()).isTrue();
        assertThat(bench.engine.isIdle()).isFalse();

        bench.work.open();

        assertThat(cancelled).hasSize(1).first().asString().doesNotContain("release");
        assertThat(log).contains("release .0");
        assertThat(slow.expectTerminalError()).isInstanceOf(LockLostException.class);
        subscribe(other.release());
        bench.assertNothingIsLeft();
    }

    @Test
    void aWaitingFlowIsServedThoughTheWorkBeforeItIsCancelledSlowly() {
        TestSubscriber<Object> slow =
                subscribe(bench.with(o -> o.withMaxHold(Duration.ofSeconds(5))).withLock("k", Mono.never()));
        grant();
        TestSubscriber<LockHandle> next = subscribe(bench.client.acquire("k"));
        bench.store.ignoreAll();
        bench.work.shut();
        bench.time.advance(Duration.ofSeconds(5));
        assertThat(bench.store.log).containsExactly("claim .1");
        bench.store.claim().answer(ScriptedBackend.queued());

        bench.work.open();
        bench.store.push(new Signal.Grant(bench.claimId(1), ScriptedBackend.token(2)));

        assertThat(slow.expectTerminalError()).isInstanceOf(LockLostException.class);
        assertThat(bench.store.log).containsExactly("claim .1", "release .0");
        assertThat(Bench.held(next).isHeld()).isTrue();
        subscribe(Bench.held(next).release());
        bench.assertNothingIsLeft();
    }

    @Test
    void closingWaitsForWorkThatIsBeingCancelledButNotForEver() {
        TestSubscriber<Object> flow = subscribe(bench.client.withLock("k", Mono.never()));
        grant();
        bench.work.shut();
        TestSubscriber<Void> closed = subscribe(bench.client.close());
        assertThat(bench.store.isClosed).isFalse();

        bench.time.advance(Duration.ofSeconds(5));
        assertThat(bench.store.isClosed).isTrue();
        bench.work.open();

        assertThat(closed.isTerminatedComplete()).isTrue();
        assertThat(flow.expectTerminalError()).isInstanceOf(LockLostException.class);
        bench.assertNothingIsLeft();
    }

    private void grant() {
        ScriptedBackend.Asked<ClaimResult> asked = bench.store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), 1));
    }

    @Test
    void anErrorInATimerDoesNotEndTheOthers() {
        AtomicInteger ticks = new AtomicInteger();
        Timing timing = new Timing(Door.settings(bench.over(bench.store)), () -> {
            int unused = ticks.incrementAndGet();
            throw new AssertionError("of a tick");
        });

        timing.serve(LEASE.toNanos());
        bench.time.advance(Duration.ofSeconds(1));

        assertThat(ticks).hasValueGreaterThan(1);
        timing.dispose();
    }

    @Test
    void aHookThatThrowsKeepsNoLock() {
        InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
        LockClient client = bench.over(store).build();
        List<Throwable> dropped = new ArrayList<>();
        Hooks.onErrorDropped(e -> {
            dropped.add(e);
            throw new IllegalStateException("of the hook", e);
        });
        try {
            TestSubscriber<String> flow = TestSubscriber.create();
            client.<String>withLock("k", held -> {
                        flow.cancel();
                        throw new IllegalStateException("of the work");
                    })
                    .subscribe(flow);
        } finally {
            Hooks.resetOnErrorDropped();
        }

        assertThat(dropped).hasSize(1);
        assertThat(store.size()).isZero();
    }

    @Test
    void workWhoseCancelThrowsKeepsNoLock() {
        InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
        LockClient client = bench.over(store).build();
        Mono<String> work = Mono.fromDirect(subscriber -> {
            subscriber.onSubscribe(new Subscription() {
                @Override
                public void request(long n) {}

                @Override
                public void cancel() {
                    throw new IllegalStateException("of the cancel");
                }
            });
            throw new IllegalStateException("of the call");
        });

        TestSubscriber<String> flow = subscribe(client.withLock("k", work));

        assertThat(flow.expectTerminalError()).hasMessage("of the call");
        assertThat(store.size()).isZero();
    }

    @Test
    void aWorkSchedulerThatIsDisposedDoesNotKeepALock() {
        Scheduler gone = Schedulers.newSingle("gone");
        gone.dispose();
        Bench bare = new Bench(settings -> settings.workScheduler(gone));
        TestSubscriber<String> flow = subscribe(bare.client.withLock("k", Mono.just("v")));
        Asked<ClaimResult> asked = bare.store.claim();

        asked.answer(ScriptedBackend.granted(asked.claim(), 1));

        flow.block(Duration.ofSeconds(60));
        assertThat(flow.getReceivedOnNext()).containsExactly("v");
        bare.assertNothingIsLeft();
    }

    @Test
    void aClientMayBeUsedAndClosedOnThreadsThatMustNotBlock() {
        LockClient client = LockClient.create(InMemoryLockBackend.create());
        Mono<Long> tokens = Mono.defer(() -> client.withLock("k", held -> Mono.just(held.fencingToken()))
                        .delayUntil(token -> client.close()))
                .subscribeOn(Schedulers.parallel());

        StepVerifier.create(tokens).expectNextCount(1).expectComplete().verify(Duration.ofSeconds(60));
    }
}
