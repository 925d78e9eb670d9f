package io.github.reactivelock.engine.claim;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** When a release that has no answer is asked for again. */
class RepeatedReleaseTest {

    private static final Duration COMMAND_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LATE = Duration.ofSeconds(5);
    private static final Duration TICK = Duration.ofMillis(250);
    private static final Duration PAUSE = Duration.ofMillis(50);

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    @BeforeEach
    void releasesAreAnsweredByHand() {
        store.confirmsReleases = false;
    }

    @Test
    void aLateStoreIsAskedAgainAfterTwiceItsLastAnswersTime() {
        LockHandle handle = bench.hold("k", 1);
        bench.lateAnswer(LATE);
        subscribe(handle.release());

        bench.time.advance(LATE.multipliedBy(2).minus(TICK));
        assertThat(store.count("release")).isEqualTo(1);
        bench.time.advance(TICK.multipliedBy(2).plus(PAUSE));

        assertThat(store.count("release")).isEqualTo(2);
    }

    @Test
    void theCallerHearsAfterOneCommandTimeoutHoweverLateTheStoreIs() {
        LockHandle handle = bench.hold("k", 1);
        bench.lateAnswer(LATE);
        bench.heard.unreleased.clear();
        TestSubscriber<Void> released = subscribe(handle.release());

        bench.time.advance(COMMAND_TIMEOUT.plus(TICK));

        assertThat(released.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("2000 ms");
        store.release().answer(true);
        assertThat(bench.engine.isIdle()).isTrue();
        assertThat(bench.heard.unreleased).as("told once").hasSize(1);
    }

    @Test
    void oneAnswerInTimeIsEnoughToBeAskedAgainSoon() {
        LockHandle handle = bench.hold("k", 1);
        bench.lateAnswer(LATE);
        bench.hold("l", 2);
        subscribe(handle.release());

        bench.time.advance(COMMAND_TIMEOUT.plus(TICK).plus(PAUSE));

        assertThat(store.count("release")).isEqualTo(2);
    }

    @Test
    void aLateAnswerIsWaitedForUntilTheLeaseMustBeOver() {
        Duration lease = Duration.ofSeconds(6);
        LockClient client = bench.with(options -> options.withLease(lease).withoutRenewal());
        LockHandle first = bench.hold(client, "k", 1);
        LockHandle second = bench.hold(client, "l", 2);
        bench.lateAnswer(LATE.minusSeconds(1)); // twice as long is longer than the lease
        subscribe(first.release());
        subscribe(second.release());

        bench.time.advance(lease.minus(TICK));
        assertThat(store.count("release")).as("one of each").isEqualTo(2);
        store.release().answer(true);
        assertThat(bench.engine.isIdle()).as("the other one may be answered").isFalse();
        bench.time.advance(TICK.multipliedBy(2));

        assertThat(store.count("release")).isEqualTo(2);
        bench.assertNothingIsLeft();
    }

    @Test
    void anAnswerAnHourLateDoesNotKeepALostReleaseForHours() {
        LockClient client =
                bench.with(options -> options.withLease(Duration.ofHours(3)).withoutRenewal());
        LockHandle handle = bench.hold(client, "k", 1);
        bench.lateAnswer(Duration.ofHours(1));
        subscribe(handle.release());

        bench.time.advance(Duration.ofMinutes(1).plus(TICK).plus(PAUSE));

        assertThat(store.count("release")).isEqualTo(2);
    }
}
