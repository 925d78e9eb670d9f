package io.github.reactivelock.simulation;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.election.Leadership;
import io.github.reactivelock.election.SimulatedElection;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import reactor.core.publisher.Mono;

/** One campaign of a candidate: for one term, or for a while and for as many as that gives it. */
final class Candidacy {

    private static final long LONGEST_REST = 20_000_000;
    private static final double RESIGNING_SHARE = 0.4;

    private final World world;
    private final Plan plan;
    private final Oracle oracle;
    private final Member member;
    private final String key;
    private boolean waits;
    private boolean isOver;

    Candidacy(World world, Plan plan, Oracle oracle, Member member, String key) {
        this.world = world;
        this.plan = plan;
        this.oracle = oracle;
        this.member = member;
        this.key = key;
    }

    /** A candidate that is soon there again. */
    static LeaderElection candidate(World world, Member member, String key) {
        return SimulatedElection.of(member.client(), key, member.machine.scheduler(), world.random()::nextDouble)
                .withRest(Duration.ofNanos(world.shortTime(LONGEST_REST)))
                .withBackoff(Duration.ofMillis(20), Duration.ofMillis(500));
    }

    Mono<Void> campaign() {
        LeaderElection candidate = candidate(world, member, key);
        Mono<Void> campaign = world.chance(0.5)
                ? candidate.leadOnce(this::lead)
                : candidate
                        .lead(this::lead)
                        .takeUntilOther(Mono.delay(Duration.ofNanos(world.anyTime(plan.work())), member.threads))
                        .then();
        return campaign.doOnSubscribe(subscription -> waits()).onErrorResume(failure -> {
            if (!(failure instanceof LockClientClosedException)) {
                oracle.leak("a campaign ended with " + failure);
            }
            return Mono.empty();
        });
    }

    private Mono<Void> lead(Leadership term) {
        return Mono.defer(() -> {
            waitsNoMore();
            oracle.acquired();
            Holding hold = oracle.begins(
                    member.machine,
                    SimulatedElection.heldBy(term),
                    member.client().options());
            if (world.chance(RESIGNING_SHARE)) {
                member.machine.later(world.anyTime(plan.work()), null, () -> resign(term));
            }
            long length = world.chance(0.5) ? world.shortTime(plan.work()) : world.anyTime(plan.work());
            return Mono.delay(Duration.ofNanos(length), member.threads).then().doFinally(signal -> {
                oracle.ends(hold);
                waits();
            });
        });
    }

    private void resign(Leadership term) {
        term.resign()
                .subscribe(nothing -> {}, failure -> oracle.leak("a leader could not step down: " + failure), () -> {
                    if (term.isLeader()) {
                        oracle.leak("a leader that stepped down leads: " + term);
                    }
                });
    }

    private void waits() {
        if (!isOver && !waits) {
            waits = true;
            oracle.waits(key, Share.WHOLE);
        }
    }

    private void waitsNoMore() {
        if (waits) {
            waits = false;
            oracle.waitsNoMore(key, Share.WHOLE);
        }
    }

    void over() {
        isOver = true;
        waitsNoMore();
    }
}
