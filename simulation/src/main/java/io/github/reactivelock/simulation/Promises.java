package io.github.reactivelock.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/**
 * Judges who is in together: the units that flows rely on, and those that stay in use for as long as was promised,
 * although their hold is over.
 */
final class Promises {

    /** A client's clock tells milliseconds when it notices that it stood still. */
    private static final long SLACK = 5_000_000;

    /** That what a hold had is in use before that moment of the world. */
    private record Promise(Holding hold, long token, long until) {}

    private static final class Lock {
        private final List<Promise> open = new ArrayList<>();
        /** The first flow that began under each token. */
        private final TreeMap<Long, Units> begun = new TreeMap<>();
        /** Grants of the whole lock, beside which no other is in. */
        private final TreeMap<Long, Units> whole = new TreeMap<>();
    }

    private final World world;
    private final long slack;
    private final LongPredicate isExcused;
    private final Consumer<String> broken;
    private final Map<String, Lock> locks = new HashMap<>();

    /**
     * @param standstill how much later than its client a flow may see its hold begin
     * @param isExcused whether the grant with a token was ended by force, or by a store that lost or jumped
     */
    Promises(World world, long standstill, LongPredicate isExcused, Consumer<String> broken) {
        this.world = world;
        this.slack = SLACK + standstill;
        this.isExcused = isExcused;
        this.broken = broken;
    }

    private Lock lock(String key) {
        return locks.computeIfAbsent(key, absent -> new Lock());
    }

    /**
     * @param inside who is in, as far as it counts
     * @param counts whether what begins does
     */
    void begins(Holding begun, List<Holding> inside, boolean counts) {
        Lock lock = lock(begun.key);
        long token = begun.handle.fencingToken();
        Units units = new Units(begun, inside, world.now());
        lock.begun.putIfAbsent(token, units);
        if (!begun.isShared) {
            lock.whole.putIfAbsent(token, units);
        }
        if (counts) {
            judge(begun, inside, units);
        }
        lock.open.forEach(promise -> judge(promise, units));
        lock.open.removeIf(promise -> promise.until < world.now());
    }

    /** Those that were granted after it, and got that answer before, have room beside it too. */
    private void judge(Holding begun, List<Holding> inside, Units units) {
        if (units.areTooMany()) {
            broken.accept(begun + " begins while " + units.others() + " is held");
            return;
        }
        List<Holding> all = new ArrayList<>(inside);
        all.add(begun);
        for (Holding other : inside) {
            if (other.granted() > begun.granted() && new Units(other, all, world.now()).areTooMany()) {
                broken.accept(begun + " begins while " + other + " is held");
                return;
            }
        }
    }

    /** The store has confirmed the release of a hold, so that it keeps the lock for the rest of the minimum. */
    void released(Holding hold) {
        if (hold.takenUntil() > world.now()) {
            make(hold);
        }
    }

    /** A hold that was lost by its lease keeps the lock for the delay after that. */
    void outlasts(Holding hold) {
        if (hold.outlasts(world.now())) {
            make(hold);
        }
    }

    /** What the store said of a hold that asked whether it is the one in force, at that moment of the world. */
    void answered(Holding hold, long asked, boolean isCurrent) {
        long granted = hold.granted();
        if (isExcused.test(granted)) {
            return;
        }
        if (!isCurrent && hold.isHeld()) {
            broken.accept(hold + " is held, and was told that it is not the one in force");
        }
        Lock lock = lock(hold.key);
        Map.Entry<Long, Units> next = (hold.isShared ? lock.whole : lock.begun).higherEntry(granted | ~Holding.MASK);
        if (isCurrent && next != null && next.getValue().since < asked) {
            broken.accept(hold + " was told that it is the one in force, after token " + next.getKey() + " began");
        }
    }

    /** May reach the client when the next one has begun. */
    private void make(Holding hold) {
        Promise promise = new Promise(hold, hold.handle.fencingToken(), hold.takenUntil());
        Lock lock = lock(hold.key);
        lock.open.add(promise);
        lock.begun.tailMap(promise.token, false).values().forEach(units -> judge(promise, units));
    }

    private void judge(Promise promise, Units units) {
        if (units.token > promise.token
                && units.since < promise.until - slack
                && !isExcused.test(promise.token)
                && units.takeKept(promise.hold)
                && units.areTooMany()) {
            broken.accept("after " + promise.hold + " the lock was to stay taken, and token " + units.token + " began "
                    + (promise.until - units.since) / 1_000 + " us before the end");
        }
    }
}
