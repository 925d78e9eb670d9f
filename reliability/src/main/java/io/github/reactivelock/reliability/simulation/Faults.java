package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.reliability.simulation.Fault.Moment;
import io.github.reactivelock.state.LockInfo;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Mono;

/** What breaks, when its time comes or, if it is aimed, when what it waits for leaves a store after that. */
final class Faults {

    private static final long SECOND = 1_000_000_000;

    private final World world;
    private final Plan plan;
    private final Oracle oracle;
    private final List<Site> sites;
    private final List<Member> members;
    private final Member operator;
    private final Map<Moment, Deque<Fault>> aimed = new EnumMap<>(Moment.class);

    Faults(World world, Plan plan, Oracle oracle, List<Site> sites, List<Member> members, Member operator) {
        this.world = world;
        this.plan = plan;
        this.oracle = oracle;
        this.sites = sites;
        this.members = members;
        this.operator = operator;
        members.forEach(member -> member.onMoment((moment, site) -> leaves(moment, member, site)));
    }

    void begin() {
        long begun = world.now();
        for (Fault fault : plan.faults()) {
            var unused = world.at(begun + fault.atNanos(), () -> {
                if (fault.aim() != Moment.ANY) {
                    aimed.computeIfAbsent(fault.aim(), unusedMoment -> new ArrayDeque<>())
                            .add(fault);
                } else {
                    happens(fault, members.get(fault.machine()), fault.site());
                }
            });
        }
    }

    /** Nothing is aimed at any more. */
    void end() {
        aimed.clear();
    }

    private void leaves(Moment moment, Member member, int site) {
        Deque<Fault> waiting = aimed.get(moment);
        Fault next = waiting == null ? null : waiting.poll();
        if (next != null) {
            happens(next, member, site);
        }
    }

    private void happens(Fault fault, Member member, int number) {
        if (world.isLogged()) {
            world.log("FAULT", fault.kind() + " of " + member.machine.name + ", site " + number + ": " + fault);
        }
        long length = fault.length().toNanos();
        Site site = sites.get(number);
        Wire wire = member.wire(number);
        oracle.broke(world.now() + length);
        switch (fault.kind()) {
            case PAUSE -> member.machine.pause(length);
            case SUSPEND -> member.machine.suspend(length);
            case CUT -> wire.cut(length);
            case CUT_PUSHES -> wire.cutPushes(length);
            case CUT_BOTH -> {
                wire.cut(length);
                wire.cutPushes(length);
            }
            case SILENCE -> wire.beSilent(length);
            case LATE_PUSHES -> wire.pushLate(length);
            case LATE_GRANT -> wire.nextIsLate(length);
            case CLOSE -> later(() -> member.restart(oracle));
            case FORCE -> later(() -> force("lock-" + fault.machine() % plan.keys()));
            case RESTART -> later(() -> restart(number, length));
            case LOSE ->
                later(() -> {
                    restart(number, length);
                    site.lose(fault.length());
                });
            case JUMP -> later(() -> site.jump(fault.length()));
        }
    }

    /** A store may be in the middle of an answer. */
    private void later(Runnable step) {
        var unused = world.at(world.now(), step);
    }

    private void restart(int site, long length) {
        for (Member member : members) {
            member.wire(site).cut(length + world.shortTime(SECOND / 10));
            member.wire(site).cutPushes(length + world.shortTime(SECOND / 10));
        }
    }

    private void force(String key) {
        var unused = operator.client()
                .inspect(key)
                .flatMap(seen -> {
                    if (!(seen instanceof LockInfo.Held held)) {
                        return Mono.just(false);
                    }
                    oracle.forced(held.fencingToken());
                    return operator.client().forceRelease(key, held.fencingToken());
                })
                .subscribe(done -> {}, failure -> world.log("operator", "failed: " + failure));
    }
}
