package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Fault.Kind;
import io.github.reactivelock.simulation.Fault.Moment;
import io.github.reactivelock.simulation.Manner.Order;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import org.jspecify.annotations.Nullable;

/**
 * Plans that are extreme: one lock of a small fleet, a lease that is short beside the way to the store, and many faults
 * of a few kinds, aimed at what leaves a store, alone or one behind the other. Each seed switches most of what can
 * break off, so that what is left meets itself. In half of the quorums no machine reaches all nodes, so that each vote
 * matters.
 */
final class Swarm {

    private static final long MILLI = 1_000_000;
    private static final List<Order> ORDERS = List.of(Order.KEPT, Order.OF_QUESTIONS, Order.NONE);
    private static final List<Double> SHARES = List.of(0.02, 0.3, 0.5, 1.0, 1.1, 2.0);

    private final SplittableRandom random;
    private final boolean isQuorum;
    private final Duration lease;
    private final int machines;
    private final int sites;
    private final Duration busy = Duration.ofSeconds(20);

    private Swarm(SplittableRandom random) {
        this.random = random;
        this.isQuorum = random.nextBoolean();
        this.lease = Duration.ofMillis(random.nextBoolean() ? 600 : 2_000);
        this.machines = 2 + random.nextInt(2);
        this.sites = isQuorum ? 3 : 1;
    }

    /** As usual, in another measure. */
    static Plan of(Plan usual) {
        return new Swarm(new SplittableRandom(~usual.seed())).plan(usual.seed());
    }

    private Plan plan(long seed) {
        Manner manner = manner();
        List<Fault> faults = faults();
        if (isQuorum && random.nextBoolean()) {
            faults.addAll(0, apartFromOneSite());
        }
        long work = random.nextBoolean() ? 20 * MILLI : lease.toNanos() * (1 + random.nextInt(3));
        return new Plan(
                seed,
                isQuorum ? Plan.Store.QUORUM : Plan.Store.MEMORY,
                sites,
                machines,
                List.of(1, 2, 3, 6).get(random.nextInt(4)),
                1,
                lease,
                manner,
                work,
                busy,
                Plan.patience(lease).multipliedBy(manner.dawdles() ? 5 : 1), // a grant may be over before it is heard
                List.copyOf(faults));
    }

    /**
     * A quorum needs questions in order, and hears no answer after the quarter of a lease that it gives to its nodes.
     */
    private Manner manner() {
        long nanos = lease.toNanos();
        long latency = nanos / ((isQuorum ? 40L : 8L) << random.nextInt(5));
        Order order = ORDERS.get(random.nextInt(isQuorum ? 2 : 3));
        Manner steady = Manner.steady(latency, random.nextBoolean(), order);
        long most = nanos / (isQuorum ? 4 : 1 + random.nextInt(4));
        Manner manner = random.nextBoolean()
                ? steady.late(random.nextInt(3) * 0.15, most)
                : steady.dawdling(0.1 + random.nextInt(3) * 0.2, isQuorum ? most : nanos * 5 / 4);
        Manner all = manner.standingStill(List.of(0.0, 0.0, 0.01, 0.05).get(random.nextInt(4)));
        return isQuorum && random.nextBoolean() ? all.overtaking() : all;
    }

    private List<Fault> apartFromOneSite() {
        int first = random.nextInt(sites);
        Kind kind = random.nextBoolean() ? Kind.CUT_BOTH : Kind.CUT;
        return apart(machines, sites, first, kind, busy);
    }

    /** Each machine from one site, in turn. */
    static List<Fault> apart(int machines, int sites, int first, Kind kind, Duration forSoLong) {
        List<Fault> cuts = new ArrayList<>();
        for (int machine = 0; machine < machines; machine++) {
            cuts.add(new Fault(Duration.ZERO, kind, machine, (first + machine) % sites, forSoLong, Moment.ANY, null));
        }
        return cuts;
    }

    private List<Fault> faults() {
        List<Kind> all = new ArrayList<>(List.of(Kind.values()));
        all.remove(Kind.LOSE_PUSHES);
        if (isQuorum) {
            all.remove(Kind.JUMP); // for which a quorum promises nothing
        }
        List<Kind> kinds = some(all);
        List<Moment> aims = some(List.of(Moment.values()));
        int count = 20 << random.nextInt(4);
        double followed = random.nextInt(3) * 0.4;
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            Fault then = random.nextDouble() < followed ? fault(lease(), kinds, aims, null) : null;
            faults.add(fault(at, kinds, aims, then));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return faults;
    }

    private Fault fault(Duration at, List<Kind> kinds, List<Moment> aims, @Nullable Fault then) {
        Kind kind = kinds.get(random.nextInt(kinds.size()));
        Moment aim = aims.get(random.nextInt(aims.size()));
        return new Fault(at, kind, random.nextInt(machines), random.nextInt(sites), lease(), aim, then);
    }

    /** About so much of one. */
    private Duration lease() {
        double share = SHARES.get(random.nextInt(SHARES.size())) * (0.9 + 0.2 * random.nextDouble());
        return Duration.ofNanos((long) (lease.toNanos() * share));
    }

    /** One to three. */
    private <T> List<T> some(List<T> of) {
        List<T> left = new ArrayList<>(of);
        List<T> chosen = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            chosen.add(left.remove(random.nextInt(left.size())));
        }
        return Collections.unmodifiableList(chosen);
    }
}
