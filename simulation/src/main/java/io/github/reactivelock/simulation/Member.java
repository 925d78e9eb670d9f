package io.github.reactivelock.simulation;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.Simulated;
import io.github.reactivelock.quorum.SimulatedQuorum;
import io.github.reactivelock.simulation.Fault.Moment;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo;
import java.util.List;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import reactor.core.scheduler.Scheduler;

/** A client of the library on a machine, with its way to each site. When it is closed another one takes its place. */
final class Member {

    /** What all clients call themselves, where they do so alike. */
    private static final String ALIKE = "fleet";

    private static final long SOON = 100_000_000;

    final Machine machine;
    final Scheduler threads;
    private final World world;
    private final Plan plan;
    private final Manner manner;
    private final List<Site> sites;
    private final boolean proposes;
    private final Oracle oracle;
    private BiConsumer<Moment, Integer> onMoment = (moment, site) -> {};
    private List<Wire> wires = List.of();
    private LockClient client;
    private int incarnation;

    Member(World world, Machine machine, Plan plan, Manner manner, List<Site> sites, boolean proposes, Oracle oracle) {
        this.proposes = proposes;
        this.world = world;
        this.machine = machine;
        this.plan = plan;
        this.manner = manner;
        this.sites = sites;
        this.oracle = oracle;
        this.threads = machine.scheduler();
        this.client = begin();
    }

    private LockClient begin() {
        wires = IntStream.range(0, sites.size()).mapToObj(this::wireTo).toList();
        incarnation++;
        LockClientBuilder named =
                Simulated.builder(new Witnessed(backend(), oracle), name(), plan.namesAlike() ? ALIKE : name());
        LockClientBuilder settings = Simulated.timing(
                        named, machine.scheduler(), machine::nanoTime, machine::wallMillis)
                .options(LockOptions.defaults().withLease(plan.lease()))
                .workScheduler(threads);
        LockClientBuilder bounded = plan.keepsOneLock() ? settings.maxRetained(1) : settings;
        KeptLocks.Client kept = oracle.kept.new Client(machine, name(), wires.get(0)::unheardFor);
        LockListener listener = oracle.risks.of(machine, kept);
        return (listener == null ? bounded : bounded.listener(listener)).build();
    }

    private Wire wireTo(int site) {
        Wire.Witness witness = new Wire.Witness() {
            @Override
            public void leaves(Moment moment) {
                onMoment.accept(moment, site);
            }

            @Override
            public void asksUnconnected(String question) {
                if (!plan.store().isQuorum()) { // whose nodes are asked together
                    oracle.leak(machine.name + " asks without a connection: " + question);
                }
            }

            @Override
            public void confirmsWrongly(Claim claim, LockInfo shown) {
                oracle.overlaps("site " + site + " renewed claim " + claim.id() + " of '" + claim.key() + "', and says "
                        + Truth.brief(shown));
            }
        };
        return new Wire(world, machine, sites.get(site), manner, proposes, witness);
    }

    /** Takes what leaves a site for this one, and the number of the site. */
    void onMoment(BiConsumer<Moment, Integer> told) {
        onMoment = told;
    }

    private LockBackend backend() {
        return plan.store().isQuorum()
                ? SimulatedQuorum.of(
                                machine.scheduler(),
                                machine::nanoTime,
                                world.random()::nextInt,
                                List.<QuorumNode>copyOf(wires))
                        .withLongestLease(plan.longestLease())
                : wires.get(0);
    }

    /** Name of its client, with which the ids of claims begin. */
    String name() {
        return machine.name + "-" + incarnation;
    }

    LockClient client() {
        return client;
    }

    Wire wire(int site) {
        return wires.get(site);
    }

    /** Ends it, as an application does that is deployed anew. */
    void restart(Oracle oracle) {
        LockClient closed = client;
        client = begin();
        close(closed, oracle);
    }

    void close(Oracle oracle) {
        close(client, oracle);
    }

    private void close(LockClient closed, Oracle oracle) {
        closed.close()
                .subscribe(
                        nothing -> {},
                        failure -> oracle.leak("close failed: " + failure),
                        () -> judgeOnceThreadsMoved(closed, oracle));
    }

    /** Threads of it may stand still, one inside a call of the other, while another one ends it. */
    private void judgeOnceThreadsMoved(LockClient closed, Oracle oracle) {
        long longest = World.MOST_BLOCKED * plan.standstill();
        if (longest == 0 && !machine.isBlocked()) {
            judge(closed, oracle);
            return;
        }
        machine.later(Math.max(longest, SOON), null, () -> {
            boolean wasPaused = world.now() < machine.resumedAt() + longest;
            if (wasPaused || machine.isBlocked()) {
                judgeOnceThreadsMoved(closed, oracle);
            } else {
                judge(closed, oracle);
            }
        });
    }

    private void judge(LockClient closed, Oracle oracle) {
        if (!Simulated.isIdle(closed)) {
            oracle.leak("something is left in a client on " + machine.name);
        }
    }
}
