package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Fault.Kind;
import io.github.reactivelock.simulation.Fault.Moment;
import io.github.reactivelock.state.LockInfo;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/** What breaks, when its time comes or, if it is aimed, when what it waits for leaves a store after that. */
final class Faults {

    private static final long SECOND = 1_000_000_000;
    /** For how long a driver waits for an answer before it leaves a connection. */
    private static final long UNNOTICED = 5 * SECOND / 2;

    private final World world;
    private final Plan plan;
    private final Oracle oracle;
    private final List<Site> sites;
    private final List<Member> members;
    private final Member operator;
    /** When a node of a quorum may lose its memory again. */
    private long mayLoseAt;

    private boolean ended;
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
            world.atFirst(begun + fault.atNanos(), () -> isDue(fault, members.get(fault.machine()), fault.site()));
        }
    }

    private void isDue(Fault fault, Member member, int site) {
        if (ended) {
            return;
        }
        if (fault.aim() != Moment.ANY) {
            aimed.computeIfAbsent(fault.aim(), unusedMoment -> new ArrayDeque<>())
                    .add(fault);
        } else {
            happens(fault, member, site);
        }
    }

    /** Nothing is aimed at any more. */
    void end() {
        aimed.clear();
        ended = true;
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
        long length = fault.kind() == Kind.FORGET ? UNNOTICED : fault.length().toNanos();
        Site site = sites.get(number);
        Wire wire = member.wire(number);
        oracle.broke(world.now() + length, fault.kind());
        Fault then = fault.then();
        if (then != null) {
            world.atFirst(world.now() + then.atNanos(), () -> isDue(then, member, number));
        }
        switch (fault.kind()) {
            case PAUSE -> member.machine.pause(length);
            case SUSPEND -> {
                oracle.look();
                member.machine.suspend(length);
            }
            case STALL -> member.machine.stall(length);
            case CUT -> wire.cut(length);
            case CUT_PUSHES -> wire.cutPushes(length);
            case CUT_BOTH -> {
                wire.cut(length);
                wire.cutPushes(length);
            }
            case SILENCE -> wire.beSilent(length);
            case FORGET -> wire.forget(length);
            case LATE_PUSHES -> wire.pushLate(length);
            case LOSE_PUSHES -> wire.losePushes(length);
            case LATE_GRANT -> wire.nextIsLate(length);
            case CLOSE -> later(() -> member.restart(oracle));
            case FORCE -> later(() -> force("lock-" + fault.machine() % plan.keys(), length));
            case RESTART -> later(() -> restart(number, length));
            case LOSE -> later(() -> lose(fault, number));
            case REFUSE -> wire.refuseNext();
            case FULL -> {
                if (!site.fill(world.now() + length)) {
                    members.forEach(each -> each.wire(number).refuse(length));
                }
            }
            case JUMP -> later(() -> site.jump(fault.length()));
        }
    }

    /** A store may be in the middle of an answer. */
    private void later(Runnable step) {
        world.at(world.now(), step);
    }

    /** A quorum bears the loss of one node's memory at a time, the next one when that node counts again. */
    private void lose(Fault fault, int number) {
        if (plan.store().isQuorum() && world.now() < mayLoseAt) {
            return;
        }
        mayLoseAt = world.now() + 3 * plan.lease().toNanos() + fault.length().toNanos();
        restart(number, fault.length().toNanos());
        sites.get(number).lose(fault.length());
    }

    private void restart(int site, long length) {
        for (Member member : members) {
            member.wire(site).cut(length + world.shortTime(SECOND / 10));
            member.wire(site).cutPushes(length + world.shortTime(SECOND / 10));
        }
    }

    /** The holder may be any; one operator in three acts upon what was to be seen a while ago. */
    private void force(String key, long length) {
        long late = world.chance(0.3) ? length : 0;
        operator.client()
                .inspect(key)
                .subscribe(
                        seen -> operator.machine.later(late, null, () -> end(key, seen)),
                        failure -> world.log("operator", "failed: " + failure));
    }

    private void end(String key, LockInfo seen) {
        List<LockInfo.Holder> holders = Truth.holders(seen).toList();
        if (holders.isEmpty()) {
            return;
        }
        long token = holders.get((int) world.anyTime(holders.size())).fencingToken();
        oracle.forced(token);
        operator.client()
                .forceRelease(key, token)
                .subscribe(done -> {}, failure -> world.log("operator", "failed: " + failure));
    }
}
