package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.reliability.simulation.Fault.Kind;
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
 * @param latency nanoseconds that a question takes on its way, about
 * @param asksAgain whether drivers ask again what a broken connection left without an answer
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
        long latency,
        boolean asksAgain,
        long work,
        Duration busy,
        List<Fault> faults) {

    /** Whose locks are simulated. */
    enum Store {
        MEMORY,
        REDIS,
        QUORUM,
        REDIS_QUORUM;

        boolean isQuorum() {
            return this == QUORUM || this == REDIS_QUORUM;
        }

        boolean isRedis() {
            return this == REDIS || this == REDIS_QUORUM;
        }
    }

    private static final long MILLI = 1_000_000;

    static Plan of(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        Store store = Store.values()[random.nextInt(Store.values().length)];
        int sites = store.isQuorum() ? 3 + 2 * random.nextInt(2) : 1;
        int machines = 2 + random.nextInt(4);
        Duration lease = Duration.ofMillis(List.of(600, 2_000, 6_000, 15_000).get(random.nextInt(4)));
        long latency = List.of(100L, 400L, 2_000L, 10_000L).get(random.nextInt(4)) * 1_000;
        long work = List.of(MILLI, 20 * MILLI, 300 * MILLI, lease.toNanos() * 2).get(random.nextInt(4));
        Duration busy = Duration.ofSeconds(20 + random.nextInt(40));
        return new Plan(
                seed,
                store,
                sites,
                machines,
                1 + random.nextInt(8),
                1 + random.nextInt(3),
                lease,
                latency,
                random.nextBoolean(),
                work,
                busy,
                faults(random, store, sites, machines, lease, busy));
    }

    private static List<Fault> faults(
            SplittableRandom random, Store store, int sites, int machines, Duration lease, Duration busy) {
        List<Fault> faults = new ArrayList<>();
        int count = random.nextInt(14);
        Kind[] kinds = Kind.values();
        for (int i = 0; i < count; i++) {
            Kind kind = random.nextInt(4) == 0 ? Kind.FORCE : kinds[random.nextInt(kinds.length)];
            if (store.isQuorum() && kind == Kind.JUMP) {
                continue; // for which a quorum promises nothing
            }
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            long most = 2 * lease.toNanos();
            double share = random.nextDouble();
            Duration length = Duration.ofNanos((long) (most * share * share));
            faults.add(new Fault(at, kind, random.nextInt(machines), random.nextInt(sites), length));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return store.isQuorum() ? apart(faults, lease) : List.copyOf(faults);
    }

    /** A quorum bears the loss of one node's memory at a time, the next one when that node counts again. */
    private static List<Fault> apart(List<Fault> faults, Duration lease) {
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
        return new Plan(
                seed, store, sites, machines, flows, keys, lease, latency, asksAgain, work, busy, List.copyOf(fewer));
    }

    @Override
    public String toString() {
        return String.format(
                "%s, %d sites, %d machines with %d flows each, %d keys, lease %d ms, latency %d us, work up to %d ms, %s, %d s",
                store,
                sites,
                machines,
                flows,
                keys,
                lease.toMillis(),
                latency / 1_000,
                work / MILLI,
                asksAgain ? "asks again" : "fails",
                busy.toSeconds());
    }
}
