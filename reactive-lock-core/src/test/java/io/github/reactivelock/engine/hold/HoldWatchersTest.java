package io.github.reactivelock.engine.hold;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static io.github.reactivelock.engine.hold.HoldStatesTest.assertEnded;
import static io.github.reactivelock.engine.hold.HoldStatesTest.heard;
import static io.github.reactivelock.engine.hold.HoldStatesTest.watch;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.HoldState;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.ScriptedBackend;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** Subscribers to the states of a hold: many, slow, gone, and where they hear. */
class HoldWatchersTest {

    private static final Duration TICK = Duration.ofMillis(250);

    private final Bench bench = Bench.unheard();
    private final ScriptedBackend store = bench.store;

    @Test
    void eachOfManySubscribersHearsEachStateFromThePresentOneOn() {
        LockHandle held = bench.hold("k", 1);
        TestSubscriber<HoldState> first = watch(held);
        TestSubscriber<HoldState> second = watch(held);
        store.disconnect();
        bench.time.advance(LEASE.dividedBy(2).plusSeconds(1));
        TestSubscriber<HoldState> third = watch(held);
        bench.time.advance(LEASE);

        assertEnded(first, "safe", "at risk PT14.698S no cause", "lost UNREACHABLE");
        assertEnded(second, "safe", "at risk PT14.698S no cause", "lost UNREACHABLE");
        assertEnded(third, "at risk PT13.698S no cause", "lost UNREACHABLE");
    }

    @Test
    void aSubscriberThatCancelledIsForgotten() {
        LockHandle held = bench.hold("k", 1);
        TestSubscriber<HoldState> watcher = watch(held);
        TestSubscriber<HoldState> other = watch(held);
        watcher.cancel();
        store.disconnect();
        bench.work.shut();

        bench.time.advance(LEASE.dividedBy(2));
        assertThat(bench.work.waiting()).as("the other one's").isEqualTo(1);
        bench.work.open();

        assertThat(heard(watcher)).containsExactly("safe");
        assertThat(watcher.getReceivedOnNextAfterCancellation()).isEmpty();
        assertThat(heard(other)).hasSize(2);
    }

    @Test
    void aSlowSubscriberHearsTheNewestStateAndNoneThatIsOver() {
        LockHandle held = bench.hold("k", 1);
        TestSubscriber<HoldState> slow =
                TestSubscriber.builder().initialRequest(1).build();
        held.states().subscribe(slow);
        store.disconnect();
        bench.time.advance(LEASE.dividedBy(2).plusSeconds(1));
        store.confirmsRenewals = true;
        store.connect();
        bench.time.advance(TICK);
        slow.request(1);
        assertThat(heard(slow)).as("it was safe, and is").containsExactly("safe");

        store.disconnect();
        bench.time.advance(LEASE.dividedBy(2));
        assertThat(heard(slow)).containsExactly("safe", "at risk PT14.698S no cause");
        store.connect();
        bench.time.advance(TICK);
        store.disconnect();
        bench.time.advance(LEASE);
        assertThat(heard(slow)).hasSize(2);
        assertThat(slow.isTerminated()).isFalse();

        slow.request(1);
        assertEnded(slow, "safe", "at risk PT14.698S no cause", "lost UNREACHABLE");
    }

    @Test
    void whatASubscriberIsToldIsWhatIsLeftWhenItHears() {
        LockHandle held = bench.hold("k", 1);
        TestSubscriber<HoldState> watcher = watch(held);
        store.disconnect();
        bench.work.shut();

        bench.time.advance(LEASE.dividedBy(2).plusSeconds(4));
        assertThat(heard(watcher)).as("only on the work scheduler").containsExactly("safe");
        bench.work.open();

        assertThat(heard(watcher)).containsExactly("safe", "at risk PT10.698S no cause");
    }

    @Test
    void theEndOfAReleasedHoldNeedsNoDemand() {
        LockHandle held = bench.hold("k", 1);
        TestSubscriber<HoldState> slow =
                TestSubscriber.builder().initialRequest(0).build();
        held.states().subscribe(slow);

        subscribe(held.release());

        assertEnded(slow);
    }
}
