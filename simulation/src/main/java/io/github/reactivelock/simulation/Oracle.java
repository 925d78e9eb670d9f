package io.github.reactivelock.simulation;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.Simulated;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.history.HistoryChecker;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryReport;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Knows who is inside, by what the holders themselves may believe, and judges. What is excused is a matter of one hold:
 * one that an operator ended, and one whose grant is older than a loss of the store's data or a jump of its clock; and
 * that only until its client has heard that the grant is over, which is what {@code models/Grant.tla} promises.
 */
final class Oracle {

    static final long UNSETTLED = -1;

    /** After what it heard a client has so long to act on it, beside that for which a thread may stand still. */
    private static final long PROMPT = 1_000_000;

    private final World world;
    private final Map<String, KnownLock> locks = new HashMap<>();
    private final Set<Long> forced = new HashSet<>();
    /** By claim: grants of it with this token, or a lower one, are known to its client to be over. */
    private final Map<String, Long> told = new HashMap<>();
    /** By claim: when its client heard so last. */
    private final Map<String, Long> toldAt = new HashMap<>();

    private final List<String> overlaps = new ArrayList<>();
    private final List<String> regressions = new ArrayList<>();
    private final List<String> lostWakeups = new ArrayList<>();
    private final List<String> leaks = new ArrayList<>();
    private final List<HistoryEvent> history = new ArrayList<>();
    private final List<String> untold = new ArrayList<>();
    private final List<String> unavailable = new ArrayList<>();
    private final Site site;
    /** What clients report of holds. */
    final Risks risks;

    final Promises promises;
    final KeptLocks kept;
    final Availability availability;
    private final Truth truth;
    private final long standstill;
    private final boolean isQuorum;
    private long holds;
    private long acquisitions;
    private long brokenUntil;

    /** @param site the one whose losses excuse, or one that never loses anything */
    Oracle(World world, Plan plan, Site site, List<Site> sites) {
        this.world = world;
        this.site = site;
        this.risks = new Risks(
                world,
                plan.shortestLease(),
                this::wasCut,
                this::knowsItsEnd,
                begun -> sites.stream().anyMatch(forgetful -> forgetful.since() > begun),
                what -> wrong(untold, what));
        this.truth = new Truth(world, plan, sites);
        this.isQuorum = plan.store().isQuorum();
        this.standstill = World.MOST_BLOCKED * plan.standstill();
        this.promises = new Promises(world, standstill, this::wasCut, what -> wrong(overlaps, what));
        this.kept = new KeptLocks(world, plan, what -> wrong(leaks, what));
        this.availability = new Availability(world, plan, what -> wrong(unavailable, what));
    }

    private KnownLock lock(String key) {
        return locks.computeIfAbsent(key, unused -> new KnownLock(world.now()));
    }

    /**
     * Where threads stand still, one that an end has reached needs a while to act on it; {@link #judgeEnd} sees that
     * it does.
     */
    private boolean isExcused(Holding hold) {
        boolean mayStandStill = standstill > 0
                && world.now()
                        < Math.max(toldAt.getOrDefault(hold.claim(), 0L), hold.machine.resumedAt())
                                + standstill
                                + PROMPT;
        return wasCut(hold) && (!knowsItsEnd(hold) || mayStandStill);
    }

    private boolean counts(Holding hold) {
        return hold.isHeld() && !isExcused(hold);
    }

    private boolean wasCut(Holding hold) {
        return wasCut(hold.granted());
    }

    private boolean wasCut(long token) {
        long granted = token & Holding.MASK;
        return granted < site.excusedBelow() || forced.contains(granted);
    }

    private boolean knowsItsEnd(Holding hold) {
        return knowsItsEnd(hold.handle);
    }

    private boolean knowsItsEnd(LockHandle handle) {
        return told.getOrDefault(Simulated.claimOf(handle), 0L) >= (handle.fencingToken() & Holding.MASK);
    }

    /** A client hears that grants of a claim up to a token are over; what it holds under them it may hold no longer. */
    void told(Claim claim, long newestToken) {
        if (newestToken > 0) {
            told.merge(claim.id(), newestToken, Math::max);
            toldAt.put(claim.id(), world.now());
            lock(claim.key()).inside.forEach(this::judgeEnd);
        }
    }

    /** Where threads stand still, what was heard may have to wait for one that is inside the events of the lock. */
    private void judgeEnd(Holding hold) {
        if (knowsItsEndAndIsHeld(hold)) {
            long soon = standstill + PROMPT;
            world.at(Math.max(world.now(), hold.machine.resumedAt()) + soon, () -> {
                if (world.now() < hold.machine.resumedAt() + soon) { // it was paused meanwhile
                    judgeEnd(hold);
                } else if (knowsItsEndAndIsHeld(hold) && lock(hold.key).inside.contains(hold)) {
                    wrong(overlaps, hold + " is held, though its client has heard that the grant is over");
                }
            });
        }
    }

    private boolean knowsItsEndAndIsHeld(Holding hold) {
        return hold.isHeld() && knowsItsEnd(hold);
    }

    /** These are about to reach a client. */
    void look(List<Claim> held) {
        held.forEach(claim -> lock(claim.key()).inside.forEach(this::look));
    }

    /** At everybody, before a machine is suspended, of which nothing can be seen then. */
    void look() {
        locks.values().forEach(lock -> lock.inside.forEach(this::look));
    }

    private void look(Holding hold) {
        if (!hold.look(world.now())) {
            wrong(overlaps, hold + " was lost and is held again");
        }
    }

    /** A client is about to hear that a claim of it was ended by force. */
    void heardForced(String claim) {
        boolean isInside = locks.values().stream()
                .flatMap(lock -> lock.inside.stream())
                .anyMatch(hold -> hold.claim().equals(claim));
        kept.forced(claim, isInside);
    }

    void forced(long token) {
        forced.add(token & Holding.MASK);
    }

    void waits(String key, Share share) {
        lock(key).waits(world.now(), share);
    }

    void waitsNoMore(String key, Share share) {
        lock(key).waitsNoMore(world.now(), share);
    }

    /** That many more flows may have the lock without being inside. */
    void mayHaveOutside(String key, int more) {
        KnownLock lock = lock(key);
        lock.hadOutside += more;
        lock.movedAt = world.now();
    }

    /** A flow has what it wanted, be it a lock or many. */
    void acquired() {
        acquisitions++;
    }

    /** A flow begins what the lock protects. */
    Holding begins(Machine machine, LockHandle handle, LockOptions options) {
        holds++;
        risks.begins(machine, handle);
        KnownLock lock = lock(handle.key());
        Holding begun = new Holding(machine, handle, options, holds);
        if (world.isLogged()) {
            world.log(machine.name, "holds " + begun);
        }
        lock.inside.forEach(this::look);
        if (begun.isHeld()) {
            begun.begin(world.now());
            if (standstill == 0 && knowsItsEnd(begun)) {
                wrong(overlaps, begun + " begins, though its client has heard that the grant is over");
            }
            compare(begun);
            for (Holding other : lock.inside) {
                if (counts(other) && counts(begun) && begun.hasTokenOf(other)) {
                    wrong(regressions, begun + " begins with the token of " + other);
                }
            }
            lock.inside.forEach(promises::outlasts);
            promises.begins(begun, lock.inside.stream().filter(this::counts).toList(), counts(begun));
            Holding before = lock.before(begun);
            if (before == null || before.handle.fencingToken() < handle.fencingToken()) {
                lock.begins(begun);
            } else if (!isExcused(begun) && !isExcused(before)) {
                wrong(regressions, begun + " begins after " + before);
            }
        }
        lock.inside.add(begun);
        judgeEnd(begun);
        lock.movedAt = world.now();
        return begun;
    }

    /** Its work ended or was cancelled. */
    void ends(Holding hold) {
        KnownLock lock = lock(hold.key);
        lock.inside.remove(hold);
        promises.outlasts(hold);
        if (!hold.history.isEmpty() && !wasCut(hold)) {
            look(hold);
            hold.end(world.now());
            if (!hold.isShared) {
                history.addAll(hold.history);
            }
        }
        lock.movedAt = Math.max(world.now(), hold.takenUntil());
        if (world.isLogged()) {
            world.log(hold.machine.name, "leaves " + hold);
        }
    }

    /** The store has confirmed the release of a hold. */
    void released(@Nullable Holding hold) {
        if (hold != null) {
            promises.released(hold);
        }
    }

    /** Something broke: for a while waiting is no fault. */
    void broke(long until, Fault.Kind kind) {
        if (isQuorum || kind.breaksHolds()) { // two nodes that refuse are no majority
            availability.broke(until);
        }
        brokenUntil = Math.max(brokenUntil, until);
        kept.broke(until);
        locks.values().forEach(lock -> lock.movedAt = Math.max(lock.movedAt, until));
    }

    /** Whether flows wait while none is inside, and nothing has moved for so long. */
    void look(long longest) {
        locks.forEach((key, lock) -> {
            lock.inside.forEach(hold -> {
                look(hold);
                compare(hold);
            });
            if (lock.hasRoom() && lock.stoodStill(world.now(), longest)) {
                String inside = lock.inside.isEmpty() ? "none was inside" : "none came to " + lock.inside;
                long millis = (world.now() - lock.movedAt) / 1_000_000;
                wrong(lostWakeups, lock.waiting() + " wait for '" + key + "' and " + inside + " for " + millis + " ms");
                lock.movedAt = world.now();
            }
        });
    }

    /**
     * The grant under which a lock has been held for longer than that, zero if no flow has it or wants it for as long.
     */
    long settled(String key, long longest) {
        KnownLock lock = lock(key);
        Holding hold = lock.onlyHolding();
        if (world.now() - brokenUntil <= longest
                || !lock.stoodStill(world.now(), longest)
                || (hold == null ? lock.isWanted() : wasCut(hold))) {
            return UNSETTLED;
        }
        return hold == null ? 0 : hold.granted();
    }

    /** With what the stores say. */
    private void compare(Holding hold) {
        if (hold.isHeld() && !wasCut(hold)) {
            String against = truth.against(hold);
            if (against != null) {
                wrong(overlaps, against);
            }
        }
    }

    /**
     * A flow failed.
     *
     * @param key what it waited for
     * @param began when it did
     */
    void failed(Machine machine, String key, LockOptions options, long began, Throwable failure) {
        if (!(failure.getCause() instanceof Refusal refusal)) {
            availability.failed(machine, options, began, failure);
        } else if (!options.share().isWhole()
                && !options.share().equals(Share.ONE)
                && lock(key).inside.stream()
                        .anyMatch(hold -> hold.isOfThePermitsOf(refusal.claim)
                                && hold.share.equals(options.share())
                                && hold.isHeld())) {
            availability.refused(refusal);
        }
    }

    /**
     * All tried at once for a lock that was free, and each has an answer.
     *
     * @param winners how many got it
     */
    void tried(List<Member> rivals, long began, int winners) {
        List<Machine> machines = rivals.stream().map(rival -> rival.machine).toList();
        availability.tried(machines, began, winners);
    }

    /** A hold was lost; what an operator or the store ended is no matter of availability. */
    void lost(Holding hold, LockOptions options, LockLostException loss) {
        if (!wasCut(hold) && !knowsItsEnd(hold)) {
            availability.lost(hold, options, loss);
        }
    }

    void overlaps(String what) {
        wrong(overlaps, what);
    }

    void leak(String what) {
        wrong(leaks, what);
    }

    void untold(String what) {
        wrong(untold, what);
    }

    void stillWaits(String what) {
        wrong(lostWakeups, what);
    }

    private void wrong(List<String> found, String what) {
        world.log("ORACLE", what);
        found.add(String.format("%.6f s: %s", world.now() / 1e9, what));
    }

    /** What the checker of histories finds in the holds that nothing cut short; waiting is judged here. */
    Result result() {
        HistoryReport report = new HistoryChecker(Duration.ofDays(1), Duration.ofDays(1)).check(history, List.of());
        report.overlaps().forEach(what -> overlaps.add("in the history: " + what));
        report.tokenRegressions().forEach(what -> regressions.add("in the history: " + what));
        report.leaks().forEach(what -> leaks.add("in the history: " + what));
        return new Result(
                world.trace(),
                world.happened(),
                acquisitions,
                overlaps,
                regressions,
                lostWakeups,
                leaks,
                untold,
                unavailable);
    }
}
