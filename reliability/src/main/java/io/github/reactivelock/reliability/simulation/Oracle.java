package io.github.reactivelock.reliability.simulation;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.Simulated;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.history.HistoryChecker;
import io.github.reactivelock.testkit.history.HistoryEvent;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
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

    private static final long MASK = -(1L << LockBackend.PASS_BITS);

    /** A flow that is inside. */
    static final class Hold {
        private final Machine machine;
        private final String key;
        private final LockHandle handle;
        private final String id;
        private final LockOptions options;
        private long takenUntil; // the lock is nobody else's before, in the world's time
        private long reliedUntil; // as its client said last
        /** As the checker of histories reads it. */
        private final List<HistoryEvent> history = new ArrayList<>();

        private Hold(Machine machine, LockHandle handle, LockOptions options, long number) {
            this.id = machine.name + "#" + number;
            this.machine = machine;
            this.key = handle.key();
            this.options = options;
            this.takenUntil = options.minHold().map(machine::worldTimeIn).orElse(0L);
            this.handle = handle;
        }

        /** A look at the handle, which tells of an end before the work has been told. */
        private void look(long now) {
            if (!history.isEmpty() && history.get(history.size() - 1).kind() != Kind.LOST) {
                if (handle.isHeld()) {
                    record(Kind.HELD, now, machine.worldTimeIn(handle.remaining()));
                } else {
                    record(Kind.LOST, now, 0);
                }
            }
        }

        private void record(Kind kind, long now, long until) {
            int last = history.size() - 1;
            reliedUntil = Math.max(reliedUntil, until);
            if (kind == Kind.HELD && history.get(last).kind() == Kind.HELD) { // the latest says it all
                HistoryEvent unused = history.remove(last);
            }
            history.add(new HistoryEvent(now, machine.name, kind, key, id, handle.fencingToken(), until));
        }

        @Override
        public String toString() {
            return "'" + key + "' on " + machine.name + ", token " + handle.fencingToken();
        }
    }

    /** What is known of a lock. */
    private static final class Lock {
        private final List<Hold> inside = new ArrayList<>();
        private @Nullable Hold highest;
        private int waiting;
        /** Flows that may have it without being inside: they want other locks too, or a cancel of their work still blocks. */
        private int hadOutside;

        /** When somebody came or went, or something broke. */
        private long movedAt;
    }

    private final World world;
    private final Map<String, Lock> locks = new HashMap<>();
    private final Set<Long> forced = new HashSet<>();
    /** By claim: grants of it with this token, or a lower one, are known to its client to be over. */
    private final Map<String, Long> told = new HashMap<>();

    private final List<String> overlaps = new ArrayList<>();
    private final List<String> regressions = new ArrayList<>();
    private final List<String> lostWakeups = new ArrayList<>();
    private final List<String> leaks = new ArrayList<>();
    private final List<HistoryEvent> history = new ArrayList<>();
    private final List<String> untold = new ArrayList<>();
    private final Site site;
    /** What is told of holds. */
    final Risks risks;

    private final Promises promises;
    private long holds;
    private long acquisitions;

    /** @param site the one whose losses excuse, or one that never loses anything */
    Oracle(World world, Site site, Duration lease) {
        this.world = world;
        this.site = site;
        this.risks = new Risks(world, lease, this::wasCut, what -> wrong(untold, what));
        this.promises = new Promises(world, this::wasCut, what -> wrong(overlaps, what));
    }

    private Lock lock(String key) {
        return locks.computeIfAbsent(key, unused -> new Lock());
    }

    private boolean isExcused(Hold hold) {
        long granted = hold.handle.fencingToken() & MASK;
        return wasCut(granted) && told.getOrDefault(Simulated.claimOf(hold.handle), 0L) < granted;
    }

    private boolean wasCut(long token) {
        long granted = token & MASK;
        return granted < site.excusedBelow() || forced.contains(granted);
    }

    /** An answer has arrived. */
    void told(String claimId, long newestToken) {
        if (newestToken > 0) {
            told.merge(claimId, newestToken, Math::max);
        }
    }

    void forced(long token) {
        forced.add(token & MASK);
    }

    void waits(String key) {
        lock(key).waiting++;
    }

    void waitsNoMore(String key) {
        lock(key).waiting--;
    }

    /** That many more flows may have the lock without being inside. */
    void mayHaveOutside(String key, int more) {
        Lock lock = lock(key);
        lock.hadOutside += more;
        lock.movedAt = world.now();
    }

    /** A flow has what it wanted, be it a lock or many. */
    void acquired() {
        acquisitions++;
    }

    /** A flow begins what the lock protects. */
    Hold begins(Machine machine, LockHandle handle, LockOptions options) {
        holds++;
        risks.begins(machine, handle);
        Lock lock = lock(handle.key());
        Hold begun = new Hold(machine, handle, options, holds);
        if (world.isLogged()) {
            world.log(machine.name, "holds " + begun);
        }
        lock.inside.forEach(other -> other.look(world.now()));
        if (handle.isHeld()) {
            begun.record(Kind.INVOKED, world.now(), 0);
            begun.record(Kind.GRANTED, world.now(), machine.worldTimeIn(handle.remaining()));
            for (Hold other : lock.inside) {
                if (other.handle.isHeld() && !isExcused(other) && !isExcused(begun)) {
                    wrong(overlaps, begun + " begins while " + other + " is held");
                }
            }
            lock.inside.forEach(this::outlasts);
            promises.begins(handle.key(), handle.fencingToken());
            Hold highest = lock.highest;
            if (highest == null || highest.handle.fencingToken() < handle.fencingToken()) {
                lock.highest = begun;
            } else if (!isExcused(begun) && !isExcused(highest)) {
                wrong(regressions, begun + " begins after " + highest);
            }
        }
        lock.inside.add(begun);
        lock.movedAt = world.now();
        return begun;
    }

    /** Its work ended or was cancelled. */
    void ends(Hold hold) {
        Lock lock = lock(hold.key);
        lock.inside.remove(hold);
        outlasts(hold);
        if (!hold.history.isEmpty() && !wasCut(hold.handle.fencingToken())) {
            hold.look(world.now());
            if (hold.handle.isHeld()) {
                hold.record(Kind.RELEASED, world.now(), 0);
            }
            history.addAll(hold.history);
        }
        lock.movedAt = Math.max(world.now(), hold.takenUntil);
        if (world.isLogged()) {
            world.log(hold.machine.name, "leaves " + hold);
        }
    }

    /** The store has confirmed the release of a hold, so that it keeps the lock for the rest of the minimum. */
    void released(@Nullable Hold hold) {
        if (hold != null && hold.takenUntil > world.now()) {
            promises.make(hold.key, hold.handle.fencingToken(), hold.takenUntil, hold.toString());
        }
    }

    /** A hold that was lost by its lease keeps the lock for the delay after that. */
    private void outlasts(Hold hold) {
        Duration delay = hold.options.lockDelay().orElse(Duration.ZERO);
        if (!delay.isZero() && !hold.handle.isHeld() && Simulated.hasExpired(hold.handle)) {
            hold.takenUntil = hold.reliedUntil + (hold.machine.worldTimeIn(delay) - world.now());
            promises.make(hold.key, hold.handle.fencingToken(), hold.takenUntil, hold.toString());
        }
    }

    /** Something broke: for a while waiting is no fault. */
    void broke(long until) {
        locks.values().forEach(lock -> lock.movedAt = Math.max(lock.movedAt, until));
    }

    /** Whether flows wait while none is inside, and nothing has moved for so long. */
    void look(long longest) {
        locks.forEach((key, lock) -> {
            lock.inside.forEach(hold -> hold.look(world.now()));
            if (lock.waiting > 0
                    && lock.inside.isEmpty()
                    && lock.hadOutside == 0
                    && world.now() - lock.movedAt > longest) {
                wrong(
                        lostWakeups,
                        lock.waiting + " wait for '" + key + "' and none was inside for "
                                + (world.now() - lock.movedAt) / 1_000_000 + " ms");
                lock.movedAt = world.now();
            }
        });
    }

    void leak(String what) {
        wrong(leaks, what);
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
                world.trace(), world.happened(), acquisitions, overlaps, regressions, lostWakeups, leaks, untold);
    }

    /**
     * What came of a run.
     *
     * @param trace two runs with the same did the same
     * @param events how many
     * @param acquisitions how many
     * @param overlaps two inside at once
     * @param regressions tokens that did not rise
     * @param lostWakeups somebody waited for a lock that was free
     * @param leaks what was left
     * @param untold of a hold that was lost, or of its end
     */
    record Result(
            long trace,
            long events,
            long acquisitions,
            List<String> overlaps,
            List<String> regressions,
            List<String> lostWakeups,
            List<String> leaks,
            List<String> untold) {

        boolean isRight() {
            return wrong().isEmpty();
        }

        List<String> wrong() {
            List<String> all = new ArrayList<>();
            overlaps.forEach(what -> all.add("overlap: " + what));
            regressions.forEach(what -> all.add("token: " + what));
            lostWakeups.forEach(what -> all.add("lost wake-up: " + what));
            leaks.forEach(what -> all.add("leak: " + what));
            untold.forEach(what -> all.add("untold: " + what));
            return all;
        }
    }
}
