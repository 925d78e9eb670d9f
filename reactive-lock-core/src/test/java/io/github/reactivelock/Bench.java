package io.github.reactivelock;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.engine.Settings;
import io.github.reactivelock.engine.cohort.Engine;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A client over a scripted store, in virtual time. */
public final class Bench {

    public static final Duration LEASE = Duration.ofSeconds(30);
    /** When a hold of {@link #LEASE} ends here: a hundredth and two milliseconds earlier. */
    public static final Duration VALID = Duration.ofMillis(29_698);

    public final ScriptedBackend store = new ScriptedBackend();
    public final TestTime time = new TestTime();
    public final HandScheduler work = new HandScheduler();
    public final Heard heard = new Heard();
    public final Engine engine;
    public final LockClient client;

    public Bench() {
        this(settings -> settings);
    }

    /** Without a listener. */
    public static Bench unheard() {
        return new Bench(settings -> {
            settings.listener = null;
            return settings;
        });
    }

    public Bench(UnaryOperator<LockClientBuilder> settings) {
        LockClientBuilder builder = settings.apply(over(store));
        engine = builder.engine();
        client = new LockClient(engine, builder.options);
    }

    /** Another client of the same time, over any store. */
    public LockClientBuilder over(LockBackend backend) {
        LockClientBuilder builder = LockClient.builder(backend)
                .timing(time, time::nanos, time::wallMillis)
                .workScheduler(work)
                .listener(heard);
        builder.others = Runnable::run;
        return builder;
    }

    /** What a client made by it stands on. */
    public static Engine engine(LockClientBuilder builder) {
        return builder.engine();
    }

    /** What a client stands on. */
    public static Engine engine(LockClient client) {
        return client.engine;
    }

    public static Settings settings(LockClientBuilder builder) {
        return builder.settings();
    }

    /** The same client for a part of each lock, whether its store can share or not. */
    public LockClient sharing(LockClient client, Share share) {
        return new LockClient(engine, client.options().withShare(share));
    }

    public LockClient with(UnaryOperator<LockOptions> change) {
        return client.with(change.apply(client.options()));
    }

    /** A subscriber that has asked for everything. */
    @CanIgnoreReturnValue
    public static <T> TestSubscriber<T> subscribe(Mono<T> mono) {
        TestSubscriber<T> subscriber = TestSubscriber.create();
        mono.subscribe(subscriber);
        return subscriber;
    }

    /** A hold that the store grants at once. */
    @CanIgnoreReturnValue
    public LockHandle hold(String key, long number) {
        return hold(client, key, number);
    }

    @CanIgnoreReturnValue
    public LockHandle hold(LockClient by, String key, long number) {
        TestSubscriber<LockHandle> flow = subscribe(by.acquire(key));
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.granted(asked.claim(), number));
        return held(flow);
    }

    /** The last thing that the store says took so long. */
    public void lateAnswer(Duration by) {
        LockHandle other = hold("other", 99);
        store.releasedByHand = "other";
        subscribe(other.release());
        ScriptedBackend.Asked<Boolean> late = store.release();
        time.advance(by);
        late.answer(true);
        store.ignoreAll();
    }

    public static LockHandle held(TestSubscriber<LockHandle> flow) {
        assertThat(flow.getReceivedOnNext()).hasSize(1);
        return flow.getReceivedOnNext().get(0);
    }

    /** A flow whose claim the store has put into its queue. */
    @CanIgnoreReturnValue
    public Claim queue(TestSubscriber<LockHandle> flow, String key) {
        return queue(client, flow, key);
    }

    @CanIgnoreReturnValue
    public Claim queue(LockClient by, TestSubscriber<LockHandle> flow, String key) {
        by.acquire(key).subscribe(flow);
        ScriptedBackend.Asked<ClaimResult> asked = store.claim();
        asked.answer(ScriptedBackend.queued());
        return asked.claim();
    }

    /** A flow whose claim the store has put into its queue, directly behind another. */
    public TestSubscriber<LockHandle> queueBehind(LockClient by, String claimId) {
        TestSubscriber<LockHandle> flow = subscribe(by.acquire("k"));
        time.advance(Duration.ofMillis(1)); // for which it may wait for others
        store.claim().answer(new ClaimResult.Queued(Duration.ofDays(1), claimId, 0));
        return flow;
    }

    /** The id of the claim that the store heard of as number so many, the first being 0. */
    public String claimId(int number) {
        return store.ids.get(number);
    }

    /**
     * Nothing is held, waited for or being given up, and no timer is armed, once threads of their own have come to
     * rest.
     */
    public void assertNothingIsLeft() {
        assertThat(engine.isIdle()).as("the engine is idle").isTrue();
        long limit = System.nanoTime() + Duration.ofSeconds(20).toNanos();
        while (time.armedTimers() > 0 && System.nanoTime() - limit < 0) {
            Thread.onSpinWait();
        }
        assertThat(time.armedTimers()).as("armed timers").isZero();
    }

    /** What a client's listener was told. */
    public static final class Heard implements LockListener {
        public final List<String> acquired = new ArrayList<>();
        public final List<String> released = new ArrayList<>();
        public final List<LockLostException> lost = new ArrayList<>();
        public final List<LockUnavailableException> unreleased = new ArrayList<>();
        /** What became of locks that may be kept. */
        public final List<String> kept = new ArrayList<>();

        @Override
        public void retentionHit(LockRequest request) {
            kept.add("hit " + request.key());
        }

        @Override
        public void retentionMissed(LockRequest request) {
            kept.add("missed " + request.key());
        }

        @Override
        public void recalled(String key) {
            kept.add("recalled " + key);
        }

        @Override
        public void acquired(LockRequest request, long fencingToken, Duration waited) {
            acquired.add(request.key() + " " + fencingToken + " after " + waited);
        }

        @Override
        public void released(LockRequest request, long fencingToken, Duration held) {
            released.add(request.key() + " " + fencingToken + " after " + held);
        }

        @Override
        public void lost(LockRequest request, LockLostException loss) {
            lost.add(loss);
        }

        @Override
        public void releaseFailed(LockRequest request, LockUnavailableException failure) {
            unreleased.add(failure);
        }
    }
}
