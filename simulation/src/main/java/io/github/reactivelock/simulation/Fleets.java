package io.github.reactivelock.simulation;

import io.github.reactivelock.simulation.Fault.Kind;
import io.github.reactivelock.simulation.Fault.Moment;
import io.github.reactivelock.simulation.Manner.Order;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Fleets of rare kinds, of which chance would make too few. In most of them a lock may stand still for some seconds
 * only, far less than the lease, so that a flow which waits for the end of a lease stands out.
 */
final class Fleets {

    private static final long MILLI = 1_000_000;
    private static final Duration LEASE = Duration.ofSeconds(15);
    private static final Duration SHORT = Duration.ofSeconds(20);
    private static final long BURSTS_APART = 10;
    private static final int KINDS = 40;
    private static final int ASKS = 19;
    private static final int ELECTS = 37;
    private static final int SHARES = 17;
    private static final int FORCES_VOTES = 39;
    private static final int PERMITS = 9;
    private static final int RIVALS = 1;
    private static final int KEEPS = 12;
    private static final int PAUSES_VOTERS = 36;
    private static final List<Integer> LATE_VOTES = List.of(22, 32, 38);
    private static final int STANDS_STILL = 34;
    /** Readers and writers, or flows that want permits, in turn, at a store that is the script. */
    private static final int SCRIPT = 29;

    private static final int SCRIPT_SHARES = 23;
    private static final int SCRIPT_HOLDS = 26;

    private final Plan usual;
    private final SplittableRandom random;

    private Fleets(Plan usual) {
        this.usual = usual;
        this.random = new SplittableRandom(usual.seed());
    }

    static boolean electsWith(long seed) {
        return Math.floorMod(seed, KINDS) == ELECTS;
    }

    /** Some of those that share, too. */
    static boolean asksWith(long seed) {
        return Math.floorMod(seed, KINDS) == ASKS || Math.floorMod(seed, 4 * KINDS) == SHARES + 2 * KINDS;
    }

    /** Each machine has a key that it takes again and again, and others seldom. */
    static boolean keepsWith(long seed) {
        return Math.floorMod(seed, KINDS) == KEEPS;
    }

    static boolean sharesWith(long seed) {
        return Math.floorMod(seed, KINDS) == SHARES || Math.floorMod(seed, KINDS) == SCRIPT_SHARES;
    }

    /** Flows want leases of different lengths, of one script. */
    static boolean mixesLeasesWith(long seed) {
        return Math.floorMod(seed, KINDS) == SCRIPT_HOLDS;
    }

    static boolean forcesVotesWith(long seed) {
        return Math.floorMod(seed, KINDS) == FORCES_VOTES;
    }

    /** Nodes number votes that no machine proposed a token for, and votes come and go. */
    static boolean movesVotesWith(long seed) {
        int kind = Math.floorMod(seed, KINDS);
        return kind == PAUSES_VOTERS || LATE_VOTES.contains(kind);
    }

    /** Many holds end at their longest, while threads of their process stand still. */
    static boolean endsHoldsEarlyWith(long seed) {
        return Math.floorMod(seed, KINDS) == STANDS_STILL;
    }

    static boolean rivalsWith(long seed) {
        return Math.floorMod(seed, KINDS) == RIVALS;
    }

    static boolean permitsWith(long seed) {
        return Math.floorMod(seed, KINDS) == PERMITS
                || Math.floorMod(seed, KINDS) == SCRIPT
                || Math.floorMod(seed, 2 * KINDS) == SCRIPT_HOLDS + KINDS;
    }

    static boolean keepsPermitsWith(long seed) {
        return Math.floorMod(seed, 2 * KINDS) == PERMITS + KINDS;
    }

    /** One, or in a third of the seeds two. */
    static List<Integer> capacitiesWith(long seed) {
        int number = (int) Math.floorMod(seed / KINDS, 15L);
        int capacity = List.of(3, 1, 2, 5, 8).get(number % 5);
        return number % 3 == 2 ? List.of(capacity, capacity + 2) : List.of(capacity);
    }

    /** Most seeds have a {@link Swarm}, because its runs are short. */
    static Plan of(Plan usual) {
        Fleets fleets = new Fleets(usual);
        return switch (Math.floorMod(usual.seed(), KINDS)) {
            case 0, 3, 8, 35, ASKS -> usual;
            case 15, 21 -> fleets.withHoldsThatLast();
            case SCRIPT ->
                onTheScript(withPermits(hasHoldsThatLast(usual.seed()) ? fleets.withHoldsThatLast() : usual));
            case SCRIPT_HOLDS -> fleets.withRenewalsOfAnotherTime();
            case SCRIPT_SHARES -> onTheScript(withPermits(Swarm.of(usual)));
            case 5, 25 -> fleets.withShortCuts();
            case 7, 27 -> fleets.withPushesCut();
            case 11 -> fleets.withoutOrder();
            case 16 -> fleets.withRingsLost();
            case 33 -> fleets.withHoldsCutOff();
            case ELECTS -> fleets.withElections();
            case FORCES_VOTES -> fleets.withVotesForced();
            case PAUSES_VOTERS, 22, 32, 38 -> fleets.withVotesMoved();
            case STANDS_STILL -> fleets.withThreadsThatStandStill();
            case RIVALS -> fleets.withRivals();
            case KEEPS -> fleets.withLocksKept();
            case PERMITS -> withPermits(fleets.thatWantsPermits());
            case SHARES -> Math.floorMod(usual.seed(), 2 * KINDS) == SHARES ? usual : Swarm.of(usual);
            case 31 -> fleets.withGrantsForcedOnTheirWay();
            case 13 -> Math.floorMod(usual.seed(), 80) == 13 ? fleets.withManyKeys() : Swarm.of(usual);
            default -> Swarm.of(usual);
        };
    }

    private static boolean hasLinesWith(long seed) {
        return Math.floorMod(seed, 8 * KINDS) == PERMITS;
    }

    /** In an eighth of the seeds many flows in few processes, so that they stand in lines while claims are refused. */
    private Plan thatWantsPermits() {
        if (Math.floorMod(usual.seed(), 4 * KINDS) >= 2 * KINDS) {
            return Swarm.of(usual);
        }
        return hasLinesWith(usual.seed())
                ? small(Manner.steady(latency(), true, Order.KEPT), Plan.patience(LEASE), List.of())
                        .with(8, 300 * MILLI)
                : usual;
    }

    /** One lock, at one store, because a quorum has no permits. */
    private static Plan withPermits(Plan plan) {
        Plan.Store store = plan.store().isRedis() ? Plan.Store.REDIS : Plan.Store.MEMORY;
        List<Fault> faults = plan.faults().stream()
                .filter(fault -> fault.length().compareTo(plan.busy()) < 0) // else all would be cut off for good
                .map(Fault::atTheFirstSite)
                .collect(Collectors.toCollection(ArrayList::new));
        if (permitsWith(plan.seed())) {
            faults.addAll(refusals(plan));
        }
        return new Plan(
                plan.seed(),
                store,
                1,
                plan.machines(),
                plan.flows(),
                1,
                plan.lease(),
                plan.manner(),
                plan.work(),
                plan.busy(),
                plan.patience(),
                List.copyOf(faults));
    }

    private static boolean hasHoldsThatLast(long seed) {
        return Math.floorMod(seed, 2 * KINDS) == SCRIPT + KINDS;
    }

    /**
     * Few machines for a short time, because the script takes ten times as long to simulate as the store in the
     * process. In half of the seeds its memory is full once, and in all whose holds outlast that.
     */
    private static Plan onTheScript(Plan plan) {
        Duration busy = Duration.ofSeconds(10);
        int machines = Math.min(plan.machines(), 3);
        List<Fault> faults = plan.faults().stream()
                .filter(fault -> fault.at().compareTo(busy) < 0 && fault.machine() < machines)
                .collect(Collectors.toCollection(ArrayList::new));
        SplittableRandom random = new SplittableRandom(plan.seed());
        if (random.nextBoolean()
                || hasHoldsThatLast(plan.seed())) { // for so long that a hold which is not renewed meanwhile is lost
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            faults.add(new Fault(at, Kind.FULL, 0, 0, plan.lease(), Moment.ANY, null));
        }
        return new Plan(
                plan.seed(),
                Plan.Store.REDIS,
                1,
                machines,
                Math.min(plan.flows(), 3),
                1,
                plan.lease(),
                plan.manner(),
                plan.work(),
                busy,
                plan.patience(),
                List.copyOf(faults));
    }

    /** Claims are refused, one here and one there, and others are not. */
    private static List<Fault> refusals(Plan plan) {
        SplittableRandom random = new SplittableRandom(plan.seed());
        List<Fault> refusals = new ArrayList<>();
        for (int i = hasLinesWith(plan.seed()) ? 200 : 40; i > 0; i--) {
            Duration at = Duration.ofNanos(random.nextLong(plan.busy().toNanos()));
            int machine = random.nextInt(plan.machines());
            refusals.add(new Fault(at, Kind.REFUSE, machine, 0, Duration.ZERO, Moment.ANY, null));
        }
        return refusals;
    }

    /** Locks are wanted by the thousand, from a store that answers inside the call. */
    private Plan withManyKeys() {
        return new Plan(
                usual.seed(),
                Plan.Store.MEMORY,
                1,
                2,
                1,
                3_000,
                usual.lease(),
                Manner.immediately(),
                MILLI,
                Duration.ofMillis(300),
                Plan.patience(usual.lease()),
                List.of());
    }

    /** Nothing breaks but connections for pushes, so that a grant whose push was lost stands out. */
    private Plan withPushesCut() {
        Manner manner = Manner.steady(latency(), true, Order.KEPT).late(0.1, 60 * MILLI);
        return small(manner, Duration.ofSeconds(2), bursts(List.of(Kind.CUT_PUSHES)));
    }

    /**
     * Nothing breaks, but pushes are lost now and then, as rings of a database are. A claim finds such a grant when it
     * asks again, which is far sooner than the end of the lease.
     */
    private Plan withRingsLost() {
        List<Fault> faults = new ArrayList<>();
        for (Fault burst : bursts(List.of(Kind.LOSE_PUSHES))) {
            faults.add(
                    burst.aim() == Moment.ANY
                            ? burst
                            : on(burst.at(), burst.kind(), burst.length(), Moment.GRANT, null));
        }
        Manner manner = Manner.steady(latency(), true, Order.KEPT).late(0.1, 60 * MILLI);
        return small(manner, LEASE.multipliedBy(2).dividedBy(3), List.copyOf(faults));
    }

    /** Connections break for a moment: what has to be said again may not wait for the end of a lease. */
    private Plan withShortCuts() {
        Manner manner =
                Manner.steady(latency(), usual.seed() % 2 == 0, Order.KEPT).late(0.1, 60 * MILLI);
        return small(manner, Duration.ofSeconds(4), bursts(List.of(Kind.CUT, Kind.CUT_PUSHES, Kind.CUT_BOTH)));
    }

    /** Nothing breaks, but what is asked overtakes what was asked before: a release its claim, too. */
    private Plan withoutOrder() {
        Manner manner = Manner.steady(latency(), true, Order.NONE).late(0.3, 300 * MILLI);
        return small(manner, Duration.ofSeconds(4), List.of());
    }

    /** An operator ends grants whose answers are still on their way, and of which later answers have told already. */
    private Plan withGrantsForcedOnTheirWay() {
        Duration lease = Duration.ofSeconds(2);
        List<Fault> faults = new ArrayList<>();
        for (int second = 0; second < SHORT.toSeconds(); second++) {
            Fault force = on(share(lease, 0.02, 0.4), Kind.FORCE, Duration.ZERO, Moment.ANY, null);
            Fault late = on(Duration.ZERO, Kind.LATE_GRANT, share(lease, 0.45, 0.9), Moment.GRANT, force);
            Duration at = Duration.ofSeconds(second).plusNanos(random.nextLong(1_000 * MILLI));
            faults.add(on(at, Kind.CUT_PUSHES, Duration.ZERO, Moment.GRANT, late)); // so that the claim asks again
        }
        return new Plan(
                usual.seed(),
                Plan.Store.MEMORY,
                1,
                2 + random.nextInt(2),
                1 + random.nextInt(3),
                1,
                lease,
                Manner.steady(latency(), true, Order.OF_QUESTIONS),
                20 * MILLI,
                SHORT,
                Plan.patience(lease),
                List.copyOf(faults));
    }

    /**
     * An operator ends one grant after the other, and what claims ask a quorum for is late for as long as others are
     * served.
     */
    private Plan withVotesForced() {
        Duration lease = Duration.ofMillis(600);
        List<Fault> faults = new ArrayList<>();
        for (int i = 100 << random.nextInt(3); i > 0; i--) {
            Duration at = Duration.ofNanos(random.nextLong(SHORT.toNanos()));
            Kind kind = random.nextInt(4) == 0 ? Kind.CUT_BOTH : Kind.FORCE;
            Moment aim = random.nextBoolean() ? Moment.ANY : Moment.GRANT;
            faults.add(new Fault(at, kind, random.nextInt(3), random.nextInt(3), share(lease, 0, 0.3), aim, null));
        }
        faults.sort(Comparator.comparing(Fault::at));
        long latency = lease.toNanos() / (40L << random.nextInt(5));
        return new Plan(
                usual.seed(),
                Plan.Store.QUORUM,
                3,
                3,
                1 + random.nextInt(3),
                1,
                lease,
                Manner.steady(latency, random.nextBoolean(), random.nextBoolean() ? Order.KEPT : Order.OF_QUESTIONS)
                        .dawdling(0.1 + 0.2 * random.nextInt(3), lease.toNanos() / 4),
                20 * MILLI,
                SHORT,
                Plan.patience(lease).multipliedBy(5),
                List.copyOf(faults));
    }

    /**
     * Votes of a quorum change while their claim does not know it. In some fleets a process is paused for longer than a
     * lease when it has votes, and what was on its way arrives behind what it asks next. In the others votes are so
     * late that a claim is out of patience and asks again, and then its way to a node breaks.
     */
    private Plan withVotesMoved() {
        Duration lease = Duration.ofMillis(600);
        boolean pauses = Math.floorMod(usual.seed(), KINDS) == PAUSES_VOTERS;
        List<Kind> kinds = pauses
                ? List.of(Kind.PAUSE, Kind.SUSPEND, Kind.SILENCE, Kind.CUT)
                : List.of(Kind.LATE_GRANT, Kind.LATE_GRANT, Kind.CUT_PUSHES, Kind.FORCE);
        List<Fault> faults = new ArrayList<>();
        for (int i = (pauses ? 40 : 80) << random.nextInt(2); i > 0; i--) {
            Duration at = Duration.ofNanos(random.nextLong(SHORT.toNanos()));
            Kind kind = kinds.get(random.nextInt(kinds.size()));
            Moment aim = pauses && random.nextBoolean() ? Moment.RELEASE : Moment.GRANT;
            Fault then = on(share(lease, 0.3, 0.65), Kind.CUT, share(lease, 0, 0.1), Moment.ANY, null);
            faults.add(on(at, kind, share(lease, 0, pauses ? 2.5 : 0.25), aim, pauses ? null : then));
        }
        faults.sort(Comparator.comparing(Fault::at));
        Manner manner = Manner.steady(
                        lease.toNanos() / (40L << random.nextInt(5)),
                        pauses && random.nextBoolean(),
                        random.nextBoolean() ? Order.KEPT : Order.OF_QUESTIONS)
                .dawdling(pauses ? 0.1 + 0.2 * random.nextInt(3) : 0.5, lease.toNanos() / 4);
        return new Plan(
                usual.seed(),
                Plan.Store.QUORUM,
                3,
                pauses ? 2 + random.nextInt(2) : 3,
                1 + random.nextInt(3),
                1,
                lease,
                random.nextBoolean() ? manner : manner.overtaking(),
                pauses ? 20 * MILLI : lease.toNanos() / 2,
                SHORT,
                Plan.patience(lease).multipliedBy(5),
                List.copyOf(faults));
    }

    /**
     * One thread of a process stands still inside the events of the lock, and meanwhile a hold comes to its end twice:
     * its time is over, or an operator ends it, and its flow gives it back.
     */
    private Plan withThreadsThatStandStill() {
        Duration lease = Duration.ofMillis(random.nextBoolean() ? 600 : 2_000);
        List<Fault> faults = new ArrayList<>();
        for (int i = 50 * random.nextInt(3); i > 0; i--) {
            Duration at = Duration.ofNanos(random.nextLong(SHORT.toNanos()));
            faults.add(on(at, Kind.FORCE, Duration.ZERO, random.nextBoolean() ? Moment.ANY : Moment.RENEWAL, null));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return new Plan(
                usual.seed(),
                Plan.Store.MEMORY,
                1,
                2,
                4 + random.nextInt(4),
                1,
                lease,
                Manner.steady(latency(), random.nextBoolean(), Order.KEPT)
                        .standingStill(List.of(0.02, 0.05, 0.1).get(random.nextInt(3))),
                lease.toNanos() / 2,
                SHORT,
                Plan.patience(lease),
                List.copyOf(faults));
    }

    /**
     * Who has the lock is cut off for longer than its lease, time and again, and others may have it after the delay
     * only.
     */
    private Plan withHoldsCutOff() {
        Duration lease = Duration.ofSeconds(2);
        List<Fault> faults = new ArrayList<>();
        for (int second = 0; second < usual.busy().toSeconds(); second += 4) {
            faults.add(on(Duration.ofSeconds(second), Kind.CUT_BOTH, share(lease, 1.7, 3), Moment.RENEWAL, null));
        }
        return new Plan(
                usual.seed(),
                Plan.Store.MEMORY,
                1,
                3,
                2,
                1,
                lease,
                Manner.steady(latency(), random.nextBoolean(), Order.KEPT),
                lease.toNanos() * 8,
                usual.busy(),
                Plan.patience(lease),
                List.copyOf(faults));
    }

    /**
     * The script is asked for renewals whose answers are lost, and again when the lease is over and others, with longer
     * ones, may have the lock; an operator ends grants that are not there any more. In half of the fleets flows want
     * permits, and the operator ends one grant after the other, so that claims that were asked again wait while their
     * renewals arrive.
     */
    private Plan withRenewalsOfAnotherTime() {
        boolean forces = permitsWith(usual.seed());
        Duration lease = Duration.ofSeconds(2);
        Duration busy = Duration.ofSeconds(15);
        List<Fault> faults = new ArrayList<>(forces ? rechecksMeetForces(busy) : List.of());
        for (int i = 0; i < 24; i++) {
            Kind kind = List.of(Kind.CUT, Kind.CUT, Kind.CUT_BOTH, Kind.FORCE).get(forces ? 3 : random.nextInt(4));
            Duration length = share(lease, 0.3, kind == Kind.FORCE ? 0.6 : 1.2);
            Moment aim = kind == Kind.FORCE ? Moment.ANY : Moment.RENEWAL;
            faults.add(on(Duration.ofNanos(random.nextLong(busy.toNanos())), kind, length, aim, null));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return new Plan(
                usual.seed(),
                Plan.Store.REDIS,
                1,
                3,
                forces ? 4 : 2,
                1,
                lease,
                Manner.steady(forces ? 30 * MILLI : latency(), true, Order.KEPT),
                lease.toNanos() * (forces ? 1 : 3),
                busy,
                Plan.patience(lease),
                List.copyOf(faults));
    }

    /** Claims ask again because pushes begin anew; one of them is granted before that arrives, and ended by force. */
    private List<Fault> rechecksMeetForces(Duration busy) {
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            for (int machine = 0; machine < 3; machine++) {
                faults.add(new Fault(at, Kind.CUT_PUSHES, machine, 0, Duration.ZERO, Moment.ANY, null));
            }
            for (int force = 0; force < 3; force++) {
                Duration later = at.plusNanos(random.nextLong(80 * MILLI));
                faults.add(on(later, Kind.FORCE, Duration.ZERO, Moment.ANY, null));
            }
        }
        return faults;
    }

    /**
     * Holds outlast their leases many times, and what breaks is short beside a lease: a renewal that is cut off, a
     * pause, a store that takes no new claim. None of it may cost a hold.
     */
    private Plan withHoldsThatLast() {
        Duration lease = Duration.ofSeconds(random.nextBoolean() ? 2 : 6);
        List<Fault> faults = new ArrayList<>();
        for (int i = 0; i < 30; i++) {
            Duration at = Duration.ofNanos(random.nextLong(usual.busy().toNanos()));
            Kind kind = List.of(Kind.CUT, Kind.CUT_BOTH, Kind.PAUSE, Kind.STALL, Kind.FULL, Kind.LATE_GRANT)
                    .get(random.nextInt(6));
            Duration length = share(lease, 0, kind == Kind.CUT || kind == Kind.CUT_BOTH ? 0.05 : 0.15);
            Moment aim = random.nextBoolean() ? Moment.RENEWAL : Moment.ANY;
            faults.add(new Fault(at, kind, random.nextInt(usual.machines()), 0, length, aim, null));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return new Plan(
                usual.seed(),
                Plan.Store.MEMORY,
                1,
                usual.machines(),
                1 + random.nextInt(3),
                2,
                lease,
                Manner.steady((MILLI / 10) << random.nextInt(4), random.nextInt(3) == 0, Order.KEPT),
                lease.toNanos() * 6,
                usual.busy(),
                Plan.patience(lease),
                List.copyOf(faults));
    }

    /**
     * One candidate a machine, whose terms are long enough to reach all observers, and connections that
     * break for a moment and, mostly, for longer than a lease. In half of the fleets clients are closed too. A quorum's
     * token may be written back later than those who watch look again.
     */
    private Plan withElections() {
        Plan.Store store = random.nextBoolean() ? Plan.Store.QUORUM : Plan.Store.MEMORY;
        boolean longCuts = store.isQuorum() || random.nextBoolean();
        Duration lease = longCuts ? Duration.ofSeconds(2) : LEASE;
        List<Kind> kinds = new ArrayList<>(List.of(Kind.CUT, Kind.CUT_PUSHES, Kind.CUT_BOTH));
        if (random.nextBoolean()) {
            kinds.add(Kind.CLOSE);
        }
        List<Fault> faults = new ArrayList<>(bursts(kinds));
        for (int second = 4; longCuts && second < usual.busy().toSeconds(); second += 10) {
            faults.add(on(Duration.ofSeconds(second), Kind.CUT_BOTH, share(lease, 0.5, 3), Moment.RENEWAL, null));
        }
        return new Plan(
                usual.seed(),
                store,
                store.isQuorum() ? 3 : 1,
                usual.machines(),
                1,
                1 + random.nextInt(2),
                lease,
                Manner.steady(latency(), random.nextBoolean(), Order.KEPT)
                        .late(store.isQuorum() ? 0.3 : 0.1, (store.isQuorum() ? 250 : 60) * MILLI),
                15_000 * MILLI,
                usual.busy(),
                longCuts || kinds.contains(Kind.CLOSE) ? Plan.patience(lease) : Duration.ofSeconds(4),
                List.copyOf(faults));
    }

    /** A quorum whose machines try at once; in half of the fleets a few connections break for up to a second. */
    private Plan withRivals() {
        List<Fault> faults = new ArrayList<>();
        for (int i = 4 * random.nextInt(2); i > 0; i--) {
            Duration at = Duration.ofNanos(random.nextLong(SHORT.dividedBy(2).toNanos()));
            Duration length = share(Duration.ofSeconds(1), 0, 1);
            faults.add(new Fault(at, Kind.CUT_BOTH, random.nextInt(3), random.nextInt(3), length, Moment.ANY, null));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return new Plan(
                usual.seed(),
                Plan.Store.QUORUM,
                3 + 2 * random.nextInt(2),
                3 + random.nextInt(3),
                1,
                1,
                Duration.ofSeconds(2),
                Manner.steady(
                                latency() / 2,
                                random.nextBoolean(),
                                random.nextBoolean() ? Order.KEPT : Order.OF_QUESTIONS)
                        .late(0.01, 20 * MILLI),
                20 * MILLI,
                SHORT,
                Plan.patience(Duration.ofSeconds(2)),
                List.copyOf(faults));
    }

    /**
     * Keys belong mostly to one machine each, so that locks are kept, two where a client may keep one; things break for
     * a moment, many or few. Each second time on the script.
     */
    private Plan withLocksKept() {
        Duration lease = random.nextBoolean() ? Duration.ofSeconds(2) : LEASE;
        Duration busy = Duration.ofSeconds(15);
        List<Kind> kinds = List.of(
                Kind.CUT, Kind.CUT_PUSHES, Kind.CUT_BOTH, Kind.FORCE, Kind.FORCE, Kind.PAUSE, Kind.RESTART, Kind.LOSE);
        List<Fault> faults = new ArrayList<>();
        int count = random.nextBoolean() ? 30 : 4;
        for (int i = 0; i < count; i++) {
            Duration at = Duration.ofNanos(random.nextLong(busy.toNanos()));
            Kind kind = kinds.get(random.nextInt(kinds.size()));
            Duration length = share(Duration.ofSeconds(1), 0, 0.6);
            faults.add(new Fault(at, kind, random.nextInt(3), 0, length, Moment.ANY, null));
        }
        faults.sort(Comparator.comparing(Fault::at));
        return new Plan(
                usual.seed(),
                Math.floorMod(usual.seed(), 2 * KINDS) == KEEPS ? Plan.Store.MEMORY : Plan.Store.REDIS,
                1,
                3,
                1 + random.nextInt(2),
                Plan.keepsOneLockWith(usual.seed()) ? 6 : 3,
                lease,
                Manner.steady(latency(), random.nextBoolean(), Order.KEPT).late(0.05, 20 * MILLI),
                20 * MILLI,
                busy,
                Plan.patience(lease),
                List.copyOf(faults));
    }

    private static Fault on(Duration at, Kind kind, Duration length, Moment aim, @Nullable Fault then) {
        return new Fault(at, kind, 0, 0, length, aim, then);
    }

    private Duration share(Duration of, double least, double most) {
        return Duration.ofNanos((long) (of.toNanos() * (least + (most - least) * random.nextDouble())));
    }

    private long latency() {
        return List.of(MILLI / 10, MILLI / 2, 2 * MILLI, 10 * MILLI).get(random.nextInt(4));
    }

    private Plan small(Manner manner, Duration patience, List<Fault> faults) {
        return new Plan(
                usual.seed(),
                Plan.Store.MEMORY,
                1,
                usual.machines(),
                usual.flows(),
                1,
                LEASE,
                manner,
                20 * MILLI,
                usual.busy(),
                patience,
                faults);
    }

    /** Short ones, with seconds between them in which the lock has to go on. */
    private List<Fault> bursts(List<Kind> kinds) {
        List<Fault> cuts = new ArrayList<>();
        Moment[] aims = Moment.values();
        for (long burst = 1; burst < usual.busy().toSeconds(); burst += BURSTS_APART) {
            for (int i = 0; i < 8; i++) {
                Duration at = Duration.ofSeconds(burst).plusNanos(random.nextLong(300 * MILLI));
                Duration length = Duration.ofNanos((long) (50 * MILLI * Math.pow(random.nextDouble(), 3)));
                Kind kind = kinds.get(random.nextInt(kinds.size()));
                Moment aim = aims[random.nextInt(aims.length)];
                cuts.add(new Fault(at, kind, random.nextInt(usual.machines()), 0, length, aim, null));
            }
        }
        cuts.sort(Comparator.comparing(Fault::at));
        return List.copyOf(cuts);
    }
}
