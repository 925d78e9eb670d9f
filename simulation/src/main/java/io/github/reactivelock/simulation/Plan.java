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
 * @param patience for how long a lock may stand still after something broke
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
        Manner manner,
        long work,
        Duration busy,
        Duration patience,
        List<Fault> faults) {

    /** Whose locks are simulated. */
    enum Store {
        MEMORY(24),
        REDIS(3),
        QUORUM(12),
        REDIS_QUORUM(1);

        /** One in forty: the script takes ten times as long to simulate as the in-process store. */
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

    private static final double MOSTLY_LATE = 0.2;
    private static final long MILLI = 1_000_000;

    static Plan of(long seed) {
        return Fleets.of(usual(seed));
    }

    /** Each seed has weights of its own: one has hardly a fault and another little else, of two kinds only. */
    private static Plan usual(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Store store = store(random.nextInt(40));
        int sites = store.isQuorum() ? 3 + 2 * random.nextInt(2) : 1;
        int machines = 2 + random.nextInt(4);
        Duration lease = Duration.ofMillis(List.of(600, 2_000, 6_000, 15_000).get(random.nextInt(4)));
        Manner manner = manner(random, store, lease);
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
                patience(lease),
                faults(random, store, sites, machines, lease, busy));
    }

    /** Leases and questions end meanwhile, and are asked anew. */
    static Duration patience(Duration lease) {
        return lease.multipliedBy(3).plusSeconds(5);
    }

    /** For how long a thread stands still at most while others of its process go on. */
    long standstill() {
        return manner.standstills() == 0 ? 0 : Math.min(lease.toNanos() / 2, 300 * MILLI);
    }

    /** Flows ask for minimum holds and lock delays, a seed in ten, and half of those with permits. */
    boolean keepsLocks() {
        return (Math.floorMod(seed, 10) == 3 || Fleets.keepsPermitsWith(seed)) && !manner.immediate();
    }

    /**
     * Half of the flows that can ask that their lock is kept for the next one, two seeds in three: about a third of all
     * flows there, and of those that want the whole lock where others share it.
     */
    boolean retains() {
        return !store.isQuorum()
                && (Math.floorMod(seed, 3) != 1 || prefersOwnKeys())
                && !elects()
                && (!keepsLocks() || shares());
    }

    /** Most flows of a machine want one key, which others want seldom. */
    boolean prefersOwnKeys() {
        return Fleets.keepsWith(seed);
    }

    /** One only, where flows keep several. */
    boolean keepsOneLock() {
        return retains() && !manner.immediate() && keys > 1 && keepsOneLockWith(seed);
    }

    static boolean keepsOneLockWith(long seed) {
        return Math.floorMod(seed / 40, 4) == 2;
    }

    /** Some of those that try for a lock only wait until it is given back; a recall that is lost costs a lease. */
    boolean awaitsReleases() {
        return retains()
                && !shares()
                && !hasPermits()
                && !manner.immediate()
                && patience.compareTo(lease) > 0
                && (Math.floorMod(seed, 5) == 0 || prefersOwnKeys());
    }

    /** Flows are candidates of elections, and their machines observe these. */
    boolean elects() {
        return Fleets.electsWith(seed);
    }

    /** All clients have one name, as those of one service do; only the ids of their claims tell them apart. */
    boolean namesAlike() {
        return Math.floorMod(seed, 7) == 3 && !store.isQuorum() && !elects();
    }

    /** Most holds may last for so long only. */
    boolean endsHoldsEarly() {
        return Fleets.endsHoldsEarlyWith(seed);
    }

    /** Flows ask whether they are still the holders. */
    boolean asksWhoIsCurrent() {
        return Fleets.asksWith(seed);
    }

    /** Some flows are readers. */
    boolean shares() {
        return Fleets.sharesWith(seed);
    }

    /**
     * Whether a machine proposes tokens to the nodes of a quorum. In a seed of four all do, and in another one every
     * second, but for elections. None does where votes are forced, which takes numbers that nodes have in common by
     * chance.
     */
    boolean proposes(int machine) {
        return proposals() == 3 || (proposals() == 0 && machine % 2 == 1 && !elects());
    }

    private int proposals() {
        return Fleets.forcesVotesWith(seed) ? 1 : Fleets.movesVotesWith(seed) ? 2 : Math.floorMod(seed / 40, 4);
    }

    /** No two nodes number alike by themselves, so that tokens that were not proposed are written back. */
    boolean numbersByTime() {
        return elects() || asksWhoIsCurrent() || (store.isQuorum() && proposals() % 2 == 0);
    }

    /** All machines try at once for a lock, again and again. */
    boolean hasRivals() {
        return Fleets.rivalsWith(seed);
    }

    /** Flows want permits, and some share or want the whole. */
    boolean hasPermits() {
        return Fleets.permitsWith(seed);
    }

    /** Permits of the semaphore; where there are several, flows of one key name different ones. */
    List<Integer> capacities() {
        return Fleets.capacitiesWith(seed);
    }

    /** Leases of flows: one; in one seed of three shorter ones too. */
    List<Duration> leases() {
        boolean several =
                Fleets.mixesLeasesWith(seed) || (Math.floorMod(seed, 3) == 1 && !store.isQuorum() && !elects());
        return several
                ? List.of(lease, lease.dividedBy(2), lease.multipliedBy(3).dividedBy(4))
                : List.of(lease);
    }

    /** The shortest of {@link #leases}. */
    Duration shortestLease() {
        return Collections.min(leases());
    }

    /** What a store may be asked to keep. */
    Duration longestLease() {
        return keepsLocks() ? lease.multipliedBy(2) : lease;
    }

    /**
     * A lock that stays taken after its hold stands still for longer, and so does one whose answers are mostly late:
     * flows give up before they hear of their grants, several times in a row.
     */
    Duration mayStandStill() {
        Duration usual = keepsLocks() ? patience.plus(longestLease()) : patience;
        return manner.lateShare() > MOSTLY_LATE ? usual.multipliedBy(3).dividedBy(2) : usual;
    }

    private static Manner manner(SplittableRandom random, Store store, Duration lease) {
        long latency = one(random, 100_000, 400_000, 2 * MILLI, 10 * MILLI, Math.min(lease.toNanos() / 20, 50 * MILLI));
        double lateShare = random.nextInt(3) == 0 ? 0.1 : 0.01;
        long latest = random.nextInt(3) == 0 ? lease.toNanos() : 60 * MILLI;
        boolean asksAgain = random.nextBoolean();
        boolean inOrder = random.nextBoolean();
        // A late question holds up all behind it, and a majority would never answer within a node's timeout.
        long latestOfNode = Math.min(lease.toNanos() / 8, (inOrder ? 60 : 250) * MILLI);
        return Manner.steady(latency, asksAgain, inOrder ? Order.KEPT : Order.OF_QUESTIONS)
                .late(lateShare, store.isQuorum() ? Math.min(latest, latestOfNode) : latest);
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
            faults.add(new Fault(at, kind, random.nextInt(machines), random.nextInt(sites), length, aim, null));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return List.copyOf(faults);
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
        all.remove(Kind.LOSE_PUSHES); // drivers of other stores do not
        int few = random.nextInt(4) == 0 ? all.size() : 1 + random.nextInt(4);
        while (all.size() > few) {
            all.remove(random.nextInt(all.size()));
        }
        if (random.nextBoolean() && !all.contains(Kind.FORCE)) {
            all.add(Kind.FORCE);
        }
        return all;
    }

    Plan with(List<Fault> fewer) {
        return new Plan(
                seed, store, sites, machines, flows, keys, lease, manner, work, busy, patience, List.copyOf(fewer));
    }

    /** With more flows, and work of that many nanoseconds at most. */
    Plan with(int moreFlows, long longerWork) {
        return new Plan(
                seed, store, sites, machines, moreFlows, keys, lease, manner, longerWork, busy, patience, faults);
    }

    @Override
    public String toString() {
        return String.format(
                "%s, %d sites, %d machines with %d flows each, %d keys, lease %d ms, %s, work up to"
                        + " %d ms, %d s, %d faults",
                store,
                sites,
                machines,
                flows,
                keys,
                lease.toMillis(),
                manner,
                work / MILLI,
                busy.toSeconds(),
                faults.size());
    }
}
