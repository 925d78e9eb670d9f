package io.github.reactivelock.election;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.ElectionState.Idle;
import io.github.reactivelock.election.ElectionState.Leading;
import io.github.reactivelock.election.ElectionState.Seeking;
import io.github.reactivelock.election.Race.Runner;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.test.subscriber.TestSubscriber;

/** What observers and candidates hear. */
class ElectionStatesTest {

    private static final Duration SECOND = Duration.ofSeconds(1);

    private final Race race = new Race();
    private final Runner a = race.runner("a");
    private final Runner b = race.runner("b");
    private final Runner c = race.runner("c");
    private final TestSubscriber<ElectionState> seen = TestSubscriber.create();

    private List<String> told() {
        return seen.getReceivedOnNext().stream().map(ElectionStatesTest::text).toList();
    }

    private static String text(ElectionState state) {
        return state instanceof Following following
                ? "following " + following.leader()
                : state.getClass().getSimpleName().toLowerCase(java.util.Locale.ROOT);
    }

    @Test
    void anObserverHearsEachLeaderOnceWithItsTerm() {
        c.election.observe().subscribe(seen);
        a.run();
        b.run();
        long first = a.leadership().term();
        race.pass(Race.LEASE.multipliedBy(3)); // which looks again and finds no news
        a.leadership().resign().block();
        long second = b.leadership().term();
        b.campaign.dispose();
        a.campaign.dispose();

        assertThat(told().stream().filter(text -> !text.equals("seeking")))
                .containsExactly("following a", "following b");
        assertThat(told()).startsWith("seeking").endsWith("seeking");
        assertThat(seen.getReceivedOnNext().stream()
                        .filter(Following.class::isInstance)
                        .map(state -> ((Following) state).term()))
                .containsExactly(first, second);
        seen.cancel();
    }

    @Test
    void anObserverLearnsThatTheLeaderDiedAndNoneFollowed() {
        a.run();
        c.election.observe().subscribe(seen);
        a.cut();
        a.isPaused = true;

        race.pass(Race.LEASE.plus(SECOND));

        assertThat(told()).containsExactly("following a", "seeking");
        seen.cancel();
    }

    /** The store tells of no change, because there is none. */
    @Test
    void anObserverWhoMissedTheLeaderInOneLookSeesItInTheNext() {
        a.run();
        c.election.observe().subscribe(seen);
        c.tornLooks = 1;

        race.pass(Race.LEASE.plus(SECOND));

        assertThat(c.tornLooks).isZero();
        assertThat(told()).containsExactly("following a", "seeking", "following a");
        seen.cancel();
    }

    @Test
    void anObserverWhoseStoreIsNotAvailableSaysSoAndGoesOn() {
        a.run();
        c.election.observe().subscribe(seen);
        c.cut();
        race.pass(Duration.ofMinutes(1));
        assertThat(told()).containsExactly("following a", "seeking");
        assertThat(((Seeking) seen.getReceivedOnNext().get(1)).cause()).isInstanceOf(LockUnavailableException.class);

        c.mend();
        race.pass(Duration.ofSeconds(10));

        assertThat(told()).containsExactly("following a", "seeking", "following a");
        seen.cancel();
    }

    /** The store may tell it of its own grant before that is delivered. */
    @Test
    void aCandidateTellsItsOwnStates() {
        a.run();
        b.election.states().subscribe(seen);
        b.run();
        a.campaign.dispose();
        b.leadership().resign().block();
        b.campaign.dispose();

        assertThat(told().stream().filter(text -> !text.equals("seeking")))
                .containsExactly("idle", "following a", "following b", "leading", "idle");
        assertThat(told()).startsWith("idle", "seeking", "following a").endsWith("leading", "seeking", "idle");
        seen.cancel();
    }

    @Test
    void sinceIsWhenTheStateBegan() {
        race.pass(SECOND.multipliedBy(5));
        a.cut();
        a.run();
        race.pass(SECOND.multipliedBy(20));

        assertThat(a.election.state().since()).isEqualTo(Instant.ofEpochSecond(5));
        a.mend();
        race.pass(SECOND.multipliedBy(10));
        assertThat(a.election.state()).isInstanceOf(Leading.class);
        assertThat(a.election.state().since()).isBetween(Instant.ofEpochSecond(25), Instant.ofEpochSecond(36));
    }

    /** What a watcher heard last is the state, whichever of two threads was first. */
    @Test
    void aWatcherHearsTheNewestLast() throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(2);
        try {
            for (int round = 0; round < 2_000; round++) {
                LatestState state = new LatestState(new Idle(Instant.EPOCH, null));
                TestSubscriber<ElectionState> watcher = TestSubscriber.create();
                state.changes().subscribe(watcher);
                CyclicBarrier start = new CyclicBarrier(2);
                List<Future<?>> moves = LongStream.of(1, 2)
                        .<Future<?>>mapToObj(term -> threads.submit(() -> {
                            start.await();
                            state.move(before -> new Following("x", term, Instant.EPOCH));
                            return term;
                        }))
                        .toList();
                for (Future<?> move : moves) {
                    Object unused = move.get();
                }
                List<ElectionState> heard = watcher.getReceivedOnNext();
                assertThat(heard.get(heard.size() - 1)).isSameAs(state.get());
            }
        } finally {
            threads.shutdownNow();
        }
    }

    @Test
    void whoHearsThatACampaignIsOverMayBeginTheNext() {
        a.run();
        Disposable again =
                a.election.states().filter(Idle.class::isInstance).next().subscribe(idle -> a.run());

        a.campaign.dispose();

        assertThat(race.log).containsExactly("a leads", "a is cancelled", "a leads");
        assertThat(a.election.state()).isInstanceOf(Leading.class);
        again.dispose();
    }

    @Test
    void anErrorOfAWatcherKeepsNothingFromTheOthersNorFromTheCampaign() {
        List<ElectionState> thrownAt = new ArrayList<>();
        Disposable hostile = a.election.states().subscribe(state -> {
            thrownAt.add(state);
            if (!(state instanceof Idle)) {
                throw new LinkageError("thrown on purpose");
            }
        });
        a.election.states().subscribe(seen);

        a.run();
        a.campaign.dispose();

        assertThat(told()).startsWith("idle", "seeking").contains("leading").endsWith("idle");
        assertThat(thrownAt).isEqualTo(seen.getReceivedOnNext());
        assertThat(race.log).containsExactly("a leads", "a is cancelled");
        assertThat(race.isFree()).isTrue();
        hostile.dispose();
    }
}
