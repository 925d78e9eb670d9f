package io.github.reactivelock.election;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.election.ElectionState.Leading;
import io.github.reactivelock.election.ElectionState.Seeking;
import io.github.reactivelock.election.Race.Runner;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** What goes wrong with the lock, and what does not. */
class TermLossTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Race race = new Race();
    private final Runner a = race.runner("a");
    private final Runner b = race.runner("b");

    /** The work takes another lock: what happens to that is not what happens to the election. */
    @Test
    void anErrorOfAnotherLockIsAnErrorOfTheWork() {
        assertThat(b.client.acquire("other").block()).isNotNull();
        TestSubscriber<Object> leading = TestSubscriber.create();
        a.election
                .lead(term -> a.client
                        .with(LockOptions.defaults().withWaitTimeout(SECOND))
                        .withLock("other", Mono.empty()))
                .subscribe(leading);

        race.pass(SECOND.multipliedBy(2));

        assertThat(leading.expectTerminalError()).isInstanceOf(LockTimeoutException.class);
    }

    @Test
    void workThatPassesTheLossOfItsTermOnIsALoss() {
        a.campaign = a.election.lead(term -> term.lost().flatMap(Mono::error)).subscribe();

        assertThat(b.client.forceRelease(Race.KEY).block()).isTrue();
        assertThat(a.election.state())
                .isInstanceOfSatisfying(
                        Seeking.class, state -> assertThat(state.cause()).isInstanceOf(LockLostException.class));
        race.pass(SECOND);

        assertThat(a.election.state()).isInstanceOf(Leading.class);
    }

    @Test
    void aLossCancelsTheWorkBeforeTheNextLeads() {
        a.run();
        b.run();

        a.cut();
        race.pass(Race.LEASE.plus(SECOND));

        assertThat(race.log).containsExactly("a leads", "a is cancelled", "b leads");
        assertThat(a.election.state()).isInstanceOf(Seeking.class);
        a.mend();
        race.pass(Duration.ofSeconds(10));
        a.assertFollows("b");
    }

    @Test
    void aPausedLeaderIsCancelledWhenItWakesAndFollows() {
        a.run();
        b.run();
        Leadership old = a.leadership();
        a.isPaused = true;
        race.pass(Race.LEASE.plus(SECOND));
        assertThat(race.log).containsExactly("a leads", "b leads");
        assertThat(b.leadership().term()).isGreaterThan(old.term());

        a.isPaused = false;
        race.pass(Race.LEASE.plus(SECOND.multipliedBy(2)));

        assertThat(old.isLeader()).isFalse();
        assertThat(race.log).containsExactly("a leads", "b leads", "a is cancelled");
        a.assertFollows("b");
    }

    @Test
    void withoutTheStoreItTriesLessAndLessOftenAndSaysWhy() {
        a.cut();
        a.run();
        assertThat(a.election.state())
                .isInstanceOfSatisfying(
                        Seeking.class, state -> assertThat(state.cause()).isInstanceOf(LockUnavailableException.class));
        race.pass(Duration.ofSeconds(30));
        int before = a.tries;
        race.pass(Duration.ofMinutes(10));

        // A pause is 5 to 10 seconds by now.
        assertThat(a.tries - before).isBetween(55, 125);
        a.mend();
        race.pass(Duration.ofSeconds(10));
        assertThat(race.log).containsExactly("a leads");
    }

    @Test
    void leadingOnceBeginsAnewAfterALoss() {
        List<Long> terms = new ArrayList<>();
        TestSubscriber<String> once = TestSubscriber.create();
        a.election
                .leadOnce(term -> {
                    terms.add(term.term());
                    return terms.size() == 1 ? Mono.never() : Mono.just("done");
                })
                .subscribe(once);
        assertThat(b.client.forceRelease(Race.KEY).block()).isTrue();
        race.pass(SECOND);

        assertThat(once.getReceivedOnNext()).containsExactly("done");
        assertThat(terms).hasSize(2).isSorted();
    }

    @Test
    void aLongestHoldIsALongestTerm() {
        LeaderElection brief = LeaderElection.of(
                        a.client.with(a.client.options().withMaxHold(SECOND.multipliedBy(5))), Race.KEY)
                .withTimer(a.time);
        a.campaign = brief.lead(a::work).subscribe();
        b.run();

        race.pass(SECOND.multipliedBy(6));

        assertThat(race.log).containsExactly("a leads", "a is cancelled", "b leads");
    }
}
