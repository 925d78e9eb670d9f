package io.github.reactivelock;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** The two views of a client that share locks, and what shares refuse. */
class ShareViewsTest {

    private final Bench bench = new Bench();
    private final InMemoryLockBackend store = InMemoryLockBackend.create(bench.time::nanos);
    private final LockClient client = bench.over(store).build();

    @Test
    void aShareIsOneOfManyAWholeOrPermitsAndNothingElse() {
        assertThat(Share.permits(1, 1).isWhole()).isFalse();
        for (int[] wrong : new int[][] {{0, 3}, {4, 3}, {-1, -1}, {2, Integer.MAX_VALUE}}) {
            assertThatThrownBy(() -> new Share(wrong[0], wrong[1]))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining(";");
        }
        assertThatThrownBy(() -> client.permits(1, Integer.MAX_VALUE)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> client.permits(0, 3)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void aShareCoversWhatPromisesNoMore() {
        assertThat(Share.WHOLE.covers(Share.ONE)).isTrue();
        assertThat(Share.WHOLE.covers(Share.permits(3, 3))).isTrue();
        assertThat(Share.ONE.covers(Share.ONE)).isTrue();
        assertThat(Share.ONE.covers(Share.WHOLE)).isFalse();
        assertThat(Share.ONE.covers(Share.permits(1, 2))).isFalse();
        assertThat(Share.permits(2, 4).covers(Share.permits(1, 4))).isTrue();
        assertThat(Share.permits(2, 4).covers(Share.permits(1, 3)))
                .as("more may be in than it allows")
                .isFalse();
        assertThat(Share.permits(2, 4).covers(Share.permits(3, 4))).isFalse();
        assertThat(Share.permits(2, 4).covers(Share.WHOLE)).isFalse();
        assertThat(Share.permits(2, 4).covers(Share.ONE)).isTrue();
    }

    @Test
    void aViewKeepsItsShareWhateverOptionsItGets() {
        LockClient reading = client.shared().with(LockOptions.defaults().withLease(Duration.ofSeconds(5)));

        assertThat(reading.options().share()).isEqualTo(Share.ONE);
        assertThat(reading.options().lease()).isEqualTo(Duration.ofSeconds(5));
        assertThat(client.with(reading.options()).options().share())
                .as("options alone share nothing")
                .isEqualTo(Share.WHOLE);
        assertThat(reading.permits(2, 5).options().share()).isEqualTo(Share.permits(2, 5));
        assertThat(reading.options()).asString().contains("share=one share among any number");
    }

    @Test
    void aStoreThatKeepsExclusiveLocksOnlySaysSoWhenTheViewIsMade() {
        LockClient exclusive = LockClient.create(new BrokenBackend());

        assertThatThrownBy(exclusive::shared)
                .isInstanceOf(UnsupportedOperationException.class)
                .hasMessageContaining("keeps exclusive locks only")
                .hasMessageContaining("one share among any number");
    }

    @Test
    void anElectionHasOneLeaderAndTakesNoClientThatShares() {
        assertThatThrownBy(() -> LeaderElection.of(client.shared(), "leader"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the leader of 'leader' would be one of several");
    }

    @Test
    void aReaderBelowAReaderWhoseHoldWasLostIsAcquiredAnew() {
        LockClient brief = client.with(client.options().withMaxHold(Duration.ofMillis(200)));
        TestSubscriber<LockHandle> first = subscribe(brief.shared().acquire("k").contextWrite(LockContext.owner("me")));
        LockHandle lost = Bench.held(first);
        bench.time.advance(Duration.ofMillis(200));
        assertThat(lost.isHeld()).isFalse();

        TestSubscriber<LockHandle> whole = subscribe(client.acquire("k").contextWrite(LockContext.owner("me")));

        assertThat(Bench.held(whole).isHeld()).isTrue();
        assertThat(bench.heard.lost)
                .singleElement()
                .satisfies(loss -> assertThat(loss.reason()).isEqualTo(LossReason.HELD_TOO_LONG));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void ofTwoHoldsOfOneOwnerTheOneThatIsLeftIsJoined(int left) {
        LockHandle whole =
                Bench.held(subscribe(bench.over(store.connect()).build().acquire("k")));
        List<TestSubscriber<LockHandle>> both = List.of(read(), read());
        subscribe(whole.release());
        LockHandle held = Bench.held(both.get(left));

        subscribe(Bench.held(both.get(1 - left)).release());
        LockHandle below = Bench.held(read());
        TestSubscriber<LockHandle> wholeBelow = subscribe(client.acquire("k").contextWrite(LockContext.owner("me")));

        assertThat(below.fencingToken()).isEqualTo(held.fencingToken());
        assertThat(wholeBelow.expectTerminalError()).isInstanceOf(IllegalStateException.class);
        subscribe(below.release());
        subscribe(held.release());
        assertThat(Bench.held(subscribe(client.acquire("k").contextWrite(LockContext.owner("me"))))
                        .fencingToken())
                .as("all are over")
                .isGreaterThan(held.fencingToken());
    }

    @Test
    void ofTwoHoldsOfOneOwnerTheOneThatHasEnoughIsJoined() {
        LockHandle whole =
                Bench.held(subscribe(bench.over(store.connect()).build().acquire("k")));
        List<TestSubscriber<LockHandle>> both = List.of(permits(3), permits(1));
        subscribe(whole.release());

        assertThat(Bench.held(permits(2)).fencingToken())
                .isEqualTo(Bench.held(both.get(0)).fencingToken());
        assertThat(Bench.held(permits(1)).fencingToken())
                .isEqualTo(Bench.held(both.get(1)).fencingToken());
        assertThat(permits(4).expectTerminalError()).isInstanceOf(IllegalStateException.class);
    }

    private TestSubscriber<LockHandle> permits(int units) {
        return subscribe(client.permits(units, 4).acquire("k").contextWrite(LockContext.owner("me")));
    }

    private TestSubscriber<LockHandle> read() {
        return subscribe(client.shared().acquire("k").contextWrite(LockContext.owner("me")));
    }

    @Test
    void aWholeBelowASharedKeyOfSeveralIsRefusedAndNothingStaysHeld() {
        TestSubscriber<String> flow =
                subscribe(client.shared().withLock("k", client.withLock(List.of("a", "k", "z"), Mono.just("never"))));

        assertThat(flow.expectTerminalError())
                .isInstanceOf(IllegalStateException.class)
                .hasMessage(
                        "lock 'k' is held as one share among any number by this flow already; asked for as the whole"
                                + " it would wait for itself: ask for the whole first, or release before asking");
        assertThat(store.size()).isZero();
    }

    @Test
    void aWaitForASharedHoldsEndIgnoresNewSharers() {
        LockClient other = bench.over(store.connect()).build();
        LockHandle first = Bench.held(subscribe(client.shared().acquire("k")));
        TestSubscriber<Void> over = subscribe(other.awaitRelease("k"));
        LockHandle second = Bench.held(subscribe(other.shared().acquire("k")));
        assertThat(over.isTerminated()).isFalse();

        subscribe(first.release());

        assertThat(over.isTerminatedComplete()).isTrue();
        subscribe(second.release());
        assertThat(store.size()).isZero();
    }

    @Test
    void theEndOfASharesLeaseIsNoticedThoughAnotherWasGivenBackMeanwhile() {
        LockHandle other = Bench.held(subscribe(client.shared().acquire("k")));
        Claim silent =
                new Claim("k", "c", "s", Duration.ofSeconds(5), Claim.Mode.QUEUE, Claim.Keeping.RENEWED, Share.ONE);
        assertThat(store.claim(silent).block()).isInstanceOf(ClaimResult.Granted.class);
        TestSubscriber<Void> over = subscribe(client.awaitRelease("k"));
        subscribe(other.release());
        assertThat(over.isTerminated()).isFalse();

        bench.time.advance(Duration.ofSeconds(5).plusMillis(10));

        assertThat(over.isTerminatedComplete()).isTrue();
    }
}
