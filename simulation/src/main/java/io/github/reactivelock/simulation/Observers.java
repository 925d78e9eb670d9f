package io.github.reactivelock.simulation;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.election.ElectionState;
import io.github.reactivelock.election.ElectionState.Following;
import java.util.LinkedHashMap;
import java.util.Map;

/** Those who observe elections, one a machine and election: when nothing has moved for a while they know who leads. */
final class Observers {

    private final World world;
    private final Plan plan;
    private final Oracle oracle;
    /** By observer and by election: what it saw last. */
    private final Map<String, Map<String, ElectionState>> told = new LinkedHashMap<>();

    private boolean isOver;

    Observers(World world, Plan plan, Oracle oracle) {
        this.world = world;
        this.plan = plan;
        this.oracle = oracle;
    }

    void begin(Member member) {
        for (int i = 0; plan.elects() && i < plan.keys(); i++) {
            observe(member, "lock-" + i);
        }
    }

    /** With one client of the member after the other. */
    private void observe(Member member, String key) {
        if (isOver) {
            return;
        }
        Map<String, ElectionState> seen = told.computeIfAbsent(member.machine.name, name -> new LinkedHashMap<>());
        Candidacy.candidate(world, member, key)
                .observe()
                .subscribe(
                        state -> {
                            world.log(member.machine.name, "observes '" + key + "' as " + state);
                            seen.put(key, state);
                        },
                        failure -> {
                            if (!(failure instanceof LockClientClosedException)) {
                                oracle.leak(member.machine.name + " observes '" + key + "' no longer: " + failure);
                            }
                            member.machine.later(1, null, () -> observe(member, key));
                        });
    }

    void end() {
        isOver = true;
    }

    void look() {
        long longest = Math.min(
                plan.mayStandStill().toNanos(), plan.lease().plusSeconds(2).toNanos());
        told.forEach((machine, elections) -> elections.forEach((key, state) -> {
            long term = oracle.settled(key, longest);
            long seen = state instanceof Following following ? following.term() & Holding.MASK : 0;
            if (!isOver && term != Oracle.UNSETTLED && seen != term) {
                oracle.untold(machine + " observes '" + key + "' as " + state + ", and the term is " + term);
            }
        }));
    }
}
