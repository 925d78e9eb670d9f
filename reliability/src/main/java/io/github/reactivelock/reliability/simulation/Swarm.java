package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.reliability.simulation.Fault.Kind;
import io.github.reactivelock.reliability.simulation.Fault.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Plans that are extreme: one lock of a small fleet, a lease that is short beside the way to the store, and many faults of
 * a few kinds, aimed at what leaves a store. Each seed switches most of what can break off, so that what is left meets
 * itself.
 */
final class Swarm {

    private static final long MILLI = 1_000_000;

    private Swarm() {}

    /** As usual, in another measure. */
    static Plan of(Plan usual) {
        SplittableRandom random = new SplittableRandom(~usual.seed());
        boolean isQuorum = random.nextBoolean();
        Duration lease = Duration.ofMillis(random.nextBoolean() ? 600 : 2_000);
        int machines = 2 + random.nextInt(2);
        int sites = isQuorum ? 3 : 1;
        Duration busy = Duration.ofSeconds(20);
        // Slower nodes of a quorum hardly answer within the quarter of a lease that they are given, and nothing is
        // promised.
        long latency = lease.toNanos() / ((isQuorum ? 40L : 8L) << random.nextInt(5));
        Wire.Manner manner = new Wire.Manner(
                latency,
                random.nextInt(3) * 0.15,
                lease.toNanos() / (isQuorum ? 4 : 1 + random.nextInt(4)),
                random.nextBoolean(),
                random.nextBoolean(),
                false);
        List<Fault> faults = faults(random, machines, sites, lease, busy);
        if (isQuorum) {
            faults.removeIf(fault -> fault.kind() == Kind.JUMP);
        }
        long work = random.nextBoolean() ? 20 * MILLI : lease.toNanos() * (1 + random.nextInt(3));
        return new Plan(
                usual.seed(),
                isQuorum ? Plan.Store.QUORUM : Plan.Store.MEMORY,
                sites,
                machines,
                1 + random.nextInt(3),
                1,
                lease,
                manner,
                work,
                busy,
                isQuorum ? Plan.apart(faults, lease) : List.copyOf(faults));
    }

    private static List<Fault> faults(SplittableRandom random, int machines, int sites, Duration lease, Duration busy) {
        List<Kind> kinds = some(random, Kind.values());
        List<Moment> aims = some(random, Moment.values());
        int count = 20 << random.nextInt(4);
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            double share = List.of(0.02, 0.3, 1.0, 1.1, 2.0).get(random.nextInt(5)) * (0.9 + 0.2 * random.nextDouble());
            faults.add(new Fault(
                    at,
                    kinds.get(random.nextInt(kinds.size())),
                    random.nextInt(machines),
                    random.nextInt(sites),
                    Duration.ofNanos((long) (lease.toNanos() * share)),
                    aims.get(random.nextInt(aims.size()))));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return faults;
    }

    /** One to three. */
    private static <T> List<T> some(SplittableRandom random, T[] of) {
        List<T> left = new ArrayList<>(List.of(of));
        List<T> chosen = new ArrayList<>();
        int count = 1 + random.nextInt(3);
        for (int i = 0; i < count; i++) {
            chosen.add(left.remove(random.nextInt(left.size())));
        }
        return Collections.unmodifiableList(chosen);
    }
}
