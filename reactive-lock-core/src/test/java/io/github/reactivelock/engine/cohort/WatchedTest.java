package io.github.reactivelock.engine.cohort;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.test.subscriber.TestSubscriber;

/** What a tick need not look at, and what it must look at all the same. */
class WatchedTest {

    private final Bench bench = new Bench();
    private final ScriptedBackend store = bench.store;

    private Cohort cohort() {
        Cohort cohort = bench.engine.cohortOf(bench.claimId(0));
        assertThat(cohort).isNotNull();
        return cohort;
    }

    private boolean isDue() {
        return cohort().isDue(bench.time.nanos());
    }

    @Test
    void aHoldIsLeftAloneUntilItsRenewalIsDueAndAfterIt() {
        bench.hold("k", 1);
        bench.time.advance(Duration.ofSeconds(1));
        assertThat(isDue()).isFalse();

        bench.time.advance(Bench.LEASE.dividedBy(3).minusMillis(1_500));
        assertThat(isDue()).isFalse();
        assertThat(store.count("renew")).isZero();
        bench.time.advance(Duration.ofSeconds(1));
        assertThat(store.count("renew")).isEqualTo(1);
        assertThat(isDue()).as("while the answer is awaited").isTrue();

        ScriptedBackend.Asked<RenewalResult> asked = store.renewal();
        asked.answer(ScriptedBackend.renewed(List.of(asked.claim())));
        bench.time.advance(Duration.ofSeconds(1));
        assertThat(isDue()).isFalse();
    }

    @Test
    void aRenewalThatIsAskedForIsWatchedAtOnce() {
        LockHandle held = bench.hold("k", 1);
        bench.time.advance(Duration.ofSeconds(1));
        assertThat(isDue()).isFalse();

        TestSubscriber<Void> renewal = subscribe(held.renew());
        assertThat(isDue()).isTrue();
        bench.time.advance(Duration.ofSeconds(3)); // and its silence is noticed

        assertThat(renewal.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }

    @Test
    void aHoldWithoutRenewalIsLeftAloneUntilShortlyBeforeItsEnd() {
        Bench unheard = Bench.unheard();
        LockHandle held = unheard.hold(unheard.with(LockOptions::withoutRenewal), "k", 1);
        TestSubscriber<LockLostException> lost = subscribe(held.lost());
        unheard.time.advance(Bench.LEASE.minusSeconds(2));
        Cohort cohort = unheard.engine.cohortOf(unheard.claimId(0));
        assertThat(cohort).isNotNull();
        assertThat(cohort.isDue(unheard.time.nanos())).isFalse();

        unheard.time.advance(Duration.ofSeconds(2));

        assertThat(held.isHeld()).isFalse();
        assertThat(lost.getReceivedOnNext())
                .extracting(LockLostException::reason)
                .containsExactly(LossReason.EXPIRED);
    }

    @Test
    void aListenerHearsInTimeOfAHoldThatIsLeftAlone() {
        bench.hold(bench.with(LockOptions::withoutRenewal), "k", 1);
        bench.time.advance(Bench.LEASE.dividedBy(2).minusSeconds(1));
        assertThat(isDue()).isFalse();

        bench.time.advance(Duration.ofSeconds(1));

        assertThat(isDue()).as("at risk, which is over when it is confirmed").isTrue();
    }

    @Test
    void aClaimThatWaitsIsLookedAtByEveryTick() {
        TestSubscriber<LockHandle> flow = TestSubscriber.create();
        bench.queue(flow, "k");
        bench.time.advance(Duration.ofSeconds(1));

        assertThat(isDue()).isTrue();
    }
}
