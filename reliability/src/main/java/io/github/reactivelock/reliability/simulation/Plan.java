package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.reliability.simulation.Fault.Kind;
import io.github.reactivelock.reliability.simulation.Fault.Moment;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What a seed decides before anything happens: the store, the fleet, the work and what breaks when.
 *
 * @param seed of this and of everything that is left to chance afterwards
 * @param store which
 * @param sites how many servers
 * @param machines how many processes
 * @param flows of each
 * @param keys how many locks
 * @param lease of all locks
 * @param manner of the wires
 * @param work nanoseconds that a hold takes at most
 * @param busy for how long flows begin
 * @param faults what breaks
 */
record Plan(
        long seed,
        Store store,
        int sites,
        int machines,
        int flows,
        int keys,
        Duration lease,
        Wire.Manner manner,
        long work,
        Duration busy,
        List<Fault> faults) {

    /** Whose locks are simulated. */
    enum Store {
        MEMORY(24),
        REDIS(3),
        QUORUM(12),
        REDIS_QUORUM(1);

        /** Of forty: the script takes ten times as long to simulate as the in-process store. */
        private final int share;

        Store(int share) {
            this.share = share;
        }

        boolean isQuorum() {
            return this == QUORUM || this == REDIS_QUORUM;
        }

        boolean isRedis() {
            return this == REDIS || this == REDIS_QUORUM;
        }
    }

    private static final long MILLI = 1_000_000;
    private static final long BURSTS_APART = 10;

    /** A seed in thirty has a fleet of a rare kind, of which chance would make too few. */
    static Plan of(long seed) {
        Plan usual = usual(seed);
        return switch (Math.floorMod(seed, 30)) {
            case 7, 19 -> usual.withPushesCut();
            case 13 -> usual.withManyKeys();
            case 1, 4, 10, 16, 22, 25, 28 -> Swarm.of(usual);
            case 5, 17 -> usual.withShortCuts();
            default -> usual;
        };
    }

    /** Each seed has weights of its own: one has hardly a fault and another little else, of two kinds only. */
    private static Plan usual(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Store store = store(random.nextInt(40));
        int sites = store.isQuorum() ? 3 + 2 * random.nextInt(2) : 1;
        int machines = 2 + random.nextInt(4);
        Duration lease = Duration.ofMillis(List.of(600, 2_000, 6_000, 15_000).get(random.nextInt(4)));
        Wire.Manner manner = manner(random, store, lease);
        long work = one(random, MILLI, MILLI, 20 * MILLI, 20 * MILLI, 300 * MILLI, lease.toNanos() * 2);
        Duration busy = Duration.ofSeconds(20 + random.nextInt(40));
        return new Plan(
                seed,
                store,
                sites,
                machines,
                1 + random.nextInt(8),
                random.nextBoolean() ? 1 : 2 + random.nextInt(2),
                lease,
                manner,
                work,
                busy,
                faults(random, store, sites, machines, lease, busy));
    }

    /** Locks are wanted by the thousand, from a store that answers inside the call. */
    private Plan withManyKeys() {
        Wire.Manner immediate = new Wire.Manner(MILLI, 0, 0, true, true, true);
        Duration shortly = Duration.ofMillis(300);
        return new Plan(seed, Store.MEMORY, 1, 2, 1, 3_000, lease, immediate, MILLI, shortly, List.of());
    }

    /** Nothing breaks but connections for pushes, so that a grant whose push was lost stands out. */
    private Plan withPushesCut() {
        Duration longest = Duration.ofSeconds(15);
        Wire.Manner steady =
                new Wire.Manner(manner.latency(), 0, 0, manner.asksAgain(), manner.answersInOrder(), false);
        SplittableRandom random = new SplittableRandom(seed);
        List<Fault> cuts = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            Duration length = Duration.ofNanos(random.nextLong(50 * MILLI));
            Moment aim = random.nextBoolean() ? Moment.GRANT : Moment.ANY;
            cuts.add(new Fault(at, Kind.CUT_PUSHES, random.nextInt(machines), 0, length, aim));
        }
        cuts.sort(Comparator.comparing(Fault::at));
        return new Plan(
                seed, Store.MEMORY, 1, machines, flows, 1, longest, steady, 20 * MILLI, busy, List.copyOf(cuts));
    }

    /**
     * Connections break for a moment, in bursts between which a lock that stands still stands out: nothing that has to be
     * said again may wait for the end of a lease.
     */
    private Plan withShortCuts() {
        Duration longest = Duration.ofSeconds(15);
        Wire.Manner known = new Wire.Manner(manner.latency(), 0.1, 60 * MILLI, seed % 2 == 0, true, false);
        SplittableRandom random = new SplittableRandom(seed);
        List<Fault> cuts = new ArrayList<>();
        List<Kind> kinds = List.of(Kind.CUT, Kind.CUT_PUSHES, Kind.CUT_BOTH);
        Moment[] aims = Moment.values();
        for (long burst = 1; burst < busy.toSeconds(); burst += BURSTS_APART) {
            for (int i = 0; i < 4; i++) {
                Duration at = Duration.ofSeconds(burst).plusNanos(random.nextLong(300 * MILLI));
                Duration length = Duration.ofNanos(random.nextLong(50 * MILLI));
                Kind kind = kinds.get(random.nextInt(kinds.size()));
                cuts.add(new Fault(at, kind, random.nextInt(machines), 0, length, aims[random.nextInt(aims.length)]));
            }
        }
        cuts.sort(Comparator.comparing(Fault::at));
        return new Plan(seed, Store.MEMORY, 1, machines, flows, 1, longest, known, 20 * MILLI, busy, List.copyOf(cuts));
    }

    /** Flows ask for minimum holds and lock delays, a seed in ten. */
    boolean keepsLocks() {
        return Math.floorMod(seed, 10) == 3 && !manner.immediate();
    }

    /** What a store may be asked to keep. */
    Duration longestLease() {
        return keepsLocks() ? lease.multipliedBy(2) : lease;
    }

    private boolean isInBursts() {
        return Math.floorMod(seed, 30) == 5 || Math.floorMod(seed, 30) == 17;
    }

    /** For how long a lock may stand still after something broke: leases and questions end, and are asked anew. */
    Duration patience() {
        if (isInBursts()) {
            return Duration.ofSeconds(4);
        }
        boolean isOnlyDeaf = !faults.isEmpty() && faults.stream().allMatch(fault -> fault.kind() == Kind.CUT_PUSHES);
        return isOnlyDeaf && manner.latest() == 0
                ? Duration.ofSeconds(2)
                : lease.plus(longestLease().multipliedBy(2)).plusSeconds(5);
    }

    private static Wire.Manner manner(SplittableRandom random, Store store, Duration lease) {
        long latency = one(random, 100_000, 400_000, 2 * MILLI, 10 * MILLI, Math.min(lease.toNanos() / 20, 50 * MILLI));
        double lateShare = random.nextInt(3) == 0 ? 0.1 : 0.01;
        long latest = random.nextInt(3) == 0 ? lease.toNanos() : 60 * MILLI;
        boolean asksAgain = random.nextBoolean();
        boolean inOrder = random.nextBoolean();
        // A late question holds up all behind it, and a majority would never answer within a node's timeout.
        long latestOfNode = Math.min(lease.toNanos() / 8, (inOrder ? 60 : 250) * MILLI);
        return new Wire.Manner(
                latency,
                lateShare,
                store.isQuorum() ? Math.min(latest, latestOfNode) : latest,
                asksAgain,
                inOrder,
                false);
    }

    private static List<Fault> faults(
            SplittableRandom random, Store store, int sites, int machines, Duration lease, Duration busy) {
        List<Fault> faults = new ArrayList<>();
        int count = (int) one(random, 0, 3, 12, 12, 50);
        List<Kind> kinds = kinds(random);
        double longest = random.nextInt(3) == 0 ? 0.5 : 2;
        double aimed = random.nextInt(3) * 0.5;
        for (int i = 0; i < count; i++) {
            Kind kind = kinds.get(random.nextInt(kinds.size()));
            if (store.isQuorum() && kind == Kind.JUMP) {
                continue; // for which a quorum promises nothing
            }
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            double share = random.nextDouble() * longest;
            Duration length = Duration.ofNanos((long) (lease.toNanos() * share));
            Moment aim = random.nextDouble() < aimed ? Moment.GRANT : Moment.ANY;
            faults.add(new Fault(at, kind, random.nextInt(machines), random.nextInt(sites), length, aim));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return store.isQuorum() ? apart(faults, lease) : List.copyOf(faults);
    }

    private static Store store(int drawn) {
        int most = 0;
        for (Store store : Store.values()) {
            most += store.share;
            if (drawn < most) {
                return store;
            }
        }
        throw new IllegalArgumentException("drawn " + drawn);
    }

    private static long one(SplittableRandom random, long... of) {
        return of[random.nextInt(of.length)];
    }

    /** A few, or all. */
    private static List<Kind> kinds(SplittableRandom random) {
        List<Kind> all = new ArrayList<>(List.of(Kind.values()));
        int few = random.nextInt(4) == 0 ? all.size() : 1 + random.nextInt(4);
        while (all.size() > few) {
            Kind unused = all.remove(random.nextInt(all.size()));
        }
        if (random.nextBoolean() && !all.contains(Kind.FORCE)) {
            all.add(Kind.FORCE);
        }
        return all;
    }

    /** A quorum bears the loss of one node's memory at a time, the next one when that node counts again. */
    static List<Fault> apart(List<Fault> faults, Duration lease) {
        List<Fault> apart = new ArrayList<>();
        Duration free = Duration.ZERO;
        for (Fault fault : faults) {
            if (fault.kind() == Kind.LOSE) {
                if (fault.at().compareTo(free) < 0) {
                    continue;
                }
                free = fault.at().plus(lease.multipliedBy(3)).plus(fault.length());
            }
            apart.add(fault);
        }
        return List.copyOf(apart);
    }

    Plan with(List<Fault> fewer) {
        return new Plan(seed, store, sites, machines, flows, keys, lease, manner, work, busy, List.copyOf(fewer));
    }

    @Override
    public String toString() {
        return String.format(
                "%s, %d sites, %d machines with %d flows each, %d keys, lease %d ms, latency %d us, %.0f%% late by up to"
                        + " %d ms, %s, answers %s, work up to %d ms, %d s, %d faults",
                store,
                sites,
                machines,
                flows,
                keys,
                lease.toMillis(),
                manner.latency() / 1_000,
                100 * manner.lateShare(),
                manner.latest() / MILLI,
                manner.asksAgain() ? "asks again" : "fails",
                manner.answersInOrder() ? "in order" : "in any order",
                work / MILLI,
                busy.toSeconds(),
                faults.size());
    }
}
