package io.github.reactivelock.vertx;

import static io.github.reactivelock.vertx.Fixture.eventually;
import static io.github.reactivelock.vertx.Fixture.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.ElectionState.Following;
import io.github.reactivelock.election.ElectionState.Idle;
import io.github.reactivelock.election.ElectionState.Leading;
import io.github.reactivelock.state.LockInfo;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.Queue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class VertxLeaderElectionTest extends ClientFixture {

    private final BlockingQueue<VertxLeadership> terms = new LinkedBlockingQueue<>();

    private Future<Void> leads(VertxLeadership term) {
        terms.add(term);
        return Promise.<Void>promise().future();
    }

    private VertxLeadership next() throws InterruptedException {
        VertxLeadership term = terms.poll(60, TimeUnit.SECONDS);
        assertThat(term).as("a term begins").isNotNull();
        return term;
    }

    @Test
    void whoStepsDownIsToldAndTheOtherLeads() throws Exception {
        VertxLeaderElection a = lock.election("leader");
        VertxLeaderElection b = fixture.client().election("leader");
        Future<Void> first = a.lead(this::leads);
        VertxLeadership term = next();
        assertThat(term.key()).isEqualTo("leader");
        assertThat(term.remaining()).isPositive();
        Promise<Void> told = Promise.promise();
        term.onEnd(told::complete);
        Future<Void> second = b.lead(this::leads);
        eventually("it follows", () -> b.state() instanceof Following);
        eventually("it queues", () -> get(lock.inspect("leader")) instanceof LockInfo.Held held && held.waiters() == 1);

        get(term.resign());

        get(told.future());
        VertxLeadership after = next();
        assertThat(after.term()).isGreaterThan(term.term());
        assertThat(term.isLeader()).isFalse();
        assertThat(b.state()).isInstanceOf(Leading.class);
        get(a.stop());
        get(b.stop());
        get(first);
        get(second);
        assertThat(b.state()).isInstanceOf(Idle.class);
        eventually("it is free", () -> get(lock.inspect("leader")) instanceof LockInfo.Free);
    }

    @Test
    void theWorkRunsOnItsCallersEventLoopAndItsErrorPassesThrough() {
        Thread caller = on(() -> Future.succeededFuture(Thread.currentThread()));
        Context[] seen = new Context[1];
        Thread[] worker = new Thread[1];

        assertThatThrownBy(() -> on(() -> lock.election("leader").lead(term -> {
                    worker[0] = Thread.currentThread();
                    seen[0] = Vertx.currentContext();
                    throw new IllegalStateException("broken");
                })))
                .hasMessageContaining("broken");

        assertThat(worker[0]).isSameAs(caller);
        assertThat(seen[0].owner()).isSameAs(fixture.vertx);
        assertThat(get(lock.inspect("leader"))).isInstanceOf(LockInfo.Free.class);
    }

    @Test
    void aTermThatIsLostTellsTheWorkAndTheCandidateLeadsAgain() throws Exception {
        VertxLeaderElection election = lock.election("leader");
        Future<Void> campaign = election.lead(this::leads);
        VertxLeadership first = next();
        Promise<Void> told = Promise.promise();
        first.onEnd(told::complete);

        assertThat(get(lock.forceRelease("leader"))).isTrue();

        get(told.future());
        assertThat(next().term()).isGreaterThan(first.term());
        get(lock.close());
        assertThatThrownBy(() -> get(campaign)).isInstanceOf(LockClientClosedException.class);
    }

    @Test
    void aCandidateThatCampaignsIsRefusedASecondCampaignAndCanStillBeStopped() throws Exception {
        VertxLeaderElection election = lock.election("leader");
        Future<Void> campaign = election.lead(this::leads);
        assertThat(next().isLeader()).isTrue();

        assertThatThrownBy(() -> get(election.lead(this::leads))).isInstanceOf(IllegalStateException.class);

        assertThat(election.state()).isInstanceOf(Leading.class);
        get(election.stop());
        get(campaign);
    }

    @Test
    void observersHearWhoLeadsOnTheirContext() throws Exception {
        Queue<ElectionState> seen = new ConcurrentLinkedQueue<>();
        Queue<Context> contexts = new ConcurrentLinkedQueue<>();
        var stream = on(() -> Future.succeededFuture(lock.election("leader").observe()));
        stream.handler(state -> {
            contexts.add(Vertx.currentContext());
            seen.add(state);
        });
        VertxLeaderElection election = fixture.client().election("leader");
        var own = election.states();
        Promise<Void> led = Promise.promise();
        own.handler(state -> {
            if (state instanceof Leading) {
                led.tryComplete();
            }
        });
        Future<Void> campaign = election.lead(this::leads);
        long term = next().term();

        get(led.future());
        eventually(
                "the observer sees it",
                () -> seen.stream().anyMatch(state -> state instanceof Following f && f.term() == term));
        assertThat(contexts).containsOnly(context);
        stream.handler(null);
        own.handler(null);
        get(election.stop());
        get(campaign);
    }

    @Test
    void whoHearsThatACampaignIsOverMayBeginTheNextAndStopThat() throws Exception {
        VertxLeaderElection election = lock.election("leader");
        Queue<Future<Void>> campaigns = new ConcurrentLinkedQueue<>();
        var states = on(() -> Future.succeededFuture(election.states()));
        states.handler(state -> {
            if (state instanceof Idle && campaigns.size() < 2) {
                campaigns.add(election.lead(this::leads));
            }
        });
        assertThat(next().isLeader()).isTrue();
        on(() -> election.stop());
        assertThat(next().isLeader()).isTrue();

        get(election.stop());

        eventually("both are over", () -> campaigns.stream().allMatch(Future::succeeded));
        assertThat(campaigns).hasSize(2);
        states.handler(null);
    }
}
