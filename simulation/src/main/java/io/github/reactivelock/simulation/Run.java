package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Manner.Order;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.QuorumNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** One plan, carried out from its beginning to the last answer. */
final class Run {

    private static final long SECOND = 1_000_000_000;
    private static final long LOOK = SECOND / 4;
    /** Error of clocks, in either direction; well within the margin of one percent. */
    private static final double SPEEDS = 0.004;

    private static final String OPERATOR = "operator";
    private static final long NEAR = 10_000;

    private final Plan plan;
    private final World world;
    private final List<Site> sites;
    private final Oracle oracle;
    private final Flows flows;
    private final Observers observers;
    private final Rivals rivals;
    private final List<Member> members = new ArrayList<>();
    private final Member operator;
    private final Faults faults;

    private Run(Plan plan, @Nullable Consumer<String> log) {
        this.plan = plan;
        this.world = new World(plan.seed() + 1, log);
        this.sites = IntStream.range(0, plan.sites())
                .<Site>mapToObj(i -> plan.store().isRedis()
                        ? new LuaSite(world, i, !plan.store().isQuorum())
                        : new MemorySite(world, plan.numbersByTime()))
                .toList();
        Site excusing = plan.store().isQuorum() ? new MemorySite(world, false) : sites.get(0);
        this.oracle = new Oracle(world, plan, excusing, sites);
        this.flows = new Flows(world, plan, oracle);
        this.observers = new Observers(world, plan, oracle);
        for (int i = 0; i < plan.machines(); i++) {
            members.add(member("machine-" + i, plan.proposes(i)));
        }
        this.operator = member(OPERATOR, true);
        this.rivals = new Rivals(world, plan, oracle, members);
        this.faults = new Faults(world, plan, oracle, sites, members, operator);
    }

    /** An operator sits beside the store. */
    private Member member(String name, boolean proposes) {
        Manner manner = name.equals(OPERATOR) ? Manner.steady(NEAR, true, Order.KEPT) : plan.manner();
        double speed = 1 + SPEEDS * (2 * world.random().nextDouble() - 1);
        return new Member(
                world,
                new Machine(world, name, speed, plan.manner().standstills(), plan.standstill()),
                plan,
                manner,
                sites,
                proposes,
                oracle);
    }

    /** The same plan always comes to the same result, if nothing is left to chance. */
    static Result of(Plan plan, @Nullable Consumer<String> log) {
        return new Run(plan, log).run();
    }

    private Result run() {
        if (plan.store().isQuorum()) {
            to(plan.longestLease().toNanos() + 2 * SECOND); // nodes that have been up for less do not count
        }
        long begun = world.now();
        members.forEach(flows::begin);
        members.forEach(observers::begin);
        rivals.begin();
        faults.begin();
        to(begun + plan.busy().toNanos());
        flows.end();
        rivals.end();
        faults.end();
        long patience = 3 * plan.longestLease().toNanos() + 5 * SECOND;
        long bound = world.now() + patience + (long) plan.machines() * plan.flows() * (plan.work() + patience / 4);
        while ((flows.under() > 0 || rivals.isUnderWay()) && world.now() < bound) {
            to(world.now() + LOOK);
        }
        if (flows.under() > 0) {
            oracle.stillWaits(flows.under() + " flows never ended");
        }
        if (rivals.isUnderWay()) {
            oracle.stillWaits("rivals that tried have no answer, or have not left");
        }
        observers.end();
        end();
        oracle.risks.end();
        sites.forEach(Site::close);
        return oracle.result();
    }

    private void to(long time) {
        while (world.now() < time) {
            long until =
                    Math.min(time, world.now() + Math.min(LOOK, plan.lease().toNanos() / 8));
            boolean more = true;
            while (more) {
                more = world.next(until);
            }
            oracle.look(plan.mayStandStill().toNanos());
            observers.look();
        }
    }

    /** Everybody leaves, and nothing may be left. */
    private void end() {
        members.forEach(member -> member.close(oracle));
        operator.close(oracle);
        to(world.now()
                + 6 * plan.longestLease().toNanos()
                + 10 * SECOND); // what was late arrives, and what it began ends
        for (Site site : sites) {
            QuorumNode visitor = site.connect("visitor", operator.threads, () -> true, push -> {});
            for (int i = 0; i < plan.keys(); i++) {
                Claim claim = new Claim("lock-" + i, "visitor." + i, "visitor", Duration.ofSeconds(1), Claim.Mode.TRY);
                String answer = "" + visitor.claim(claim).block();
                if (!answer.startsWith("Granted")) {
                    oracle.leak("'lock-" + i + "' is left: " + answer);
                }
                visitor.release(claim).block();
            }
            if (site.size() > 0) {
                oracle.leak(site.size() + " locks are left");
            }
        }
    }
}
