package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.ElectionState.Leading;
import io.github.reactivelock.election.ElectionState.Seeking;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.election.Leadership;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Flux;

/** Leader election over the store. */
abstract class ElectionCases extends Cases {

    private static final double MARGIN = 0.4;

    private final Disposable.Composite subscriptions = Disposables.composite();
    private final Queue<String> log = new ConcurrentLinkedQueue<>();
    private final AtomicInteger leaders = new AtomicInteger();

    ElectionCases(LockBackendContract contract) {
        super(contract);
    }

    /** Before the clients are closed, which a campaign would take for an error. */
    @AfterEach
    void endTheCampaigns() {
        subscriptions.dispose();
    }

    /** A candidate that leads until it is cancelled, and never beside another. */
    private LeaderElection campaign(String name, LockClient client, Duration lease) {
        LeaderElection election =
                LeaderElection.of(client.with(client.options().withOwner(name).withLease(lease)), key);
        subscriptions.add(election.lead(term -> lead(name)).subscribe(never -> {}, e -> log.add(name + ": " + e)));
        return election;
    }

    /** One that leads on, though a busy machine may keep its renewals waiting. */
    private LeaderElection campaign(String name, LockClient client) {
        return campaign(name, client, contract.shortLease().multipliedBy(5));
    }

    private LeaderElection campaign(String name) {
        return campaign(name, client());
    }

    private Flux<Void> lead(String name) {
        return Flux.<Void>never()
                .doOnSubscribe(begun -> log.add(name + " leads, " + leaders.incrementAndGet() + " do"))
                .doOnCancel(leaders::decrementAndGet);
    }

    private static Leadership leading(LeaderElection election) {
        Await.until("it leads", () -> election.state() instanceof Leading);
        return ((Leading) election.state()).leadership();
    }

    private static void untilFollowing(LeaderElection election, String leader) {
        Await.until(
                "it follows " + leader,
                () -> election.state() instanceof Following following
                        && following.leader().equals(leader));
    }

    @Test
    void oneLeadsTheOthersFollowAndWhoStepsDownQueuesBehindThem() {
        LockClient observer = client();
        LeaderElection a = campaign("a");
        Leadership first = leading(a);
        LeaderElection b = campaign("b");
        untilFollowing(b, "a");
        untilQueued(observer, key, 1);

        Await.run(first.resign());

        Leadership second = leading(b);
        assertThat(second.term()).isGreaterThan(first.term());
        assertThat(first.isLeader()).isFalse();
        untilFollowing(a, "b");
        untilQueued(observer, key, 1);
        Await.run(second.resign());
        assertThat(leading(a).term()).isGreaterThan(second.term());
        Await.until("all have led", () -> log.size() == 3);
        assertThat(log).containsExactly("a leads, 1 do", "b leads, 1 do", "a leads, 1 do");
    }

    @Test
    void aTermEndedByForceCancelsTheWorkAndTheNextLeads() {
        LockClient observer = client();
        LeaderElection a = campaign("a");
        Leadership first = leading(a);
        LeaderElection b = campaign("b");
        untilQueued(observer, key, 1);

        assertThat(Await.get(observer.forceRelease(key))).isTrue();

        assertThat(leading(b).term()).isGreaterThan(first.term());
        Await.until("the work of the first leader is cancelled", () -> !first.isLeader() && leaders.get() == 1);
        untilFollowing(a, "b");
    }

    @Test
    void aLeaderThatHearsNothingOfItsStoreIsCancelledBeforeTheNextLeads() {
        LockClient observer = client();
        FaultyBackend backend = faulty();
        // A margin of two seconds: so long may a busy machine keep a thread waiting for its turn.
        LockClient impatient =
                client(backend, settings -> settings.commandTimeout(IMPATIENCE).clockMargin(MARGIN, Duration.ZERO));
        LeaderElection a = campaign("a", impatient, renewedLease());
        Leadership first = leading(a);
        LeaderElection b = campaign("b");
        untilQueued(observer, key, 1);

        backend.onClaim(FaultyBackend::unreachable);
        backend.onRenewal(FaultyBackend::silent);

        assertThat(leading(b).term()).isGreaterThan(first.term());
        Await.until("both have led", () -> log.size() == 2);
        assertThat(log).containsExactly("a leads, 1 do", "b leads, 1 do");
        Await.until("it says why", () -> a.state() instanceof Seeking seeking && seeking.cause() != null);
        backend.mend();
        untilFollowing(a, "b");
    }

    @Test
    void aCampaignThatIsCancelledOrWhoseClientIsClosedIsFollowedAtOnce() {
        LockClient closing = client();
        LockClient observer = client();
        Leadership first = leading(campaign("a", closing));
        LeaderElection b = campaign("b");
        untilQueued(observer, key, 1);

        Await.run(closing.close());

        assertThat(leading(b).term()).isGreaterThan(first.term());
        subscriptions.dispose();
        Await.until("it is free", () -> isFree(observer, key));
        assertThat(leaders).hasValue(0);
    }

    @Test
    void anObserverHearsWhoLeads() {
        Queue<ElectionState> seen = new ConcurrentLinkedQueue<>();
        LeaderElection a = campaign("a");
        Leadership first = leading(a);
        subscriptions.add(LeaderElection.of(client(), key).observe().subscribe(seen::add));
        Await.until("it sees the first", () -> !seen.isEmpty());
        LeaderElection b = campaign("b");
        untilFollowing(b, "a");

        Await.run(first.resign());
        Leadership second = leading(b);

        Await.until("it hears of the second", () -> terms(seen).contains(second.term()));
        assertThat(terms(seen)).as("%s", seen).containsExactly(first.term(), second.term());
    }

    @Test
    void anObserverLearnsOfALeaderWhoseLeaseRanOut() {
        Queue<ElectionState> seen = new ConcurrentLinkedQueue<>();
        subscriptions.add(LeaderElection.of(client(), key).observe().subscribe(seen::add));
        Await.until("it sees that there is none", () -> !seen.isEmpty());

        // Long enough to be seen by an observer that only looks now and then.
        LockOptions abandoning = DEFAULTS.withLease(contract.shortLease().multipliedBy(2));
        long abandoned = Await.get(client().with(abandoning.withoutRenewal().withMaxHold(Duration.ofDays(1)))
                        .acquire(key))
                .fencingToken();

        Await.until("it sees that there is none again", () -> seen.size() > 2);
        assertThat(terms(seen)).as("%s", seen).containsExactly(abandoned);
        assertThat(seen).last().isInstanceOf(Seeking.class);
    }

    private static List<Long> terms(Queue<ElectionState> seen) {
        return seen.stream()
                .filter(Following.class::isInstance)
                .map(state -> ((Following) state).term())
                .toList();
    }
}
