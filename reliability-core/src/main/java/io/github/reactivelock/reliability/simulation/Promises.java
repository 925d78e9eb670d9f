package io.github.reactivelock.reliability.simulation;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.LongPredicate;

/** Judges that a lock stays taken for as long as was promised, although its hold is over. */
final class Promises {

    /** A client's clock tells milliseconds when it notices that it stood still. */
    private static final long SLACK = 5_000_000;

    /** That nobody has the lock after a hold with this token before that moment of the world. */
    private record Promise(long token, long until, String hold) {}

    private static final class Lock {
        private final List<Promise> open = new ArrayList<>();
        /** When the first flow began under each token. */
        private final TreeMap<Long, Long> begun = new TreeMap<>();
        /** Of the whole, beside which no other is in. */
        private final TreeMap<Long, Long> whole = new TreeMap<>();
    }

    private final World world;
    private final LongPredicate isExcused;
    private final Consumer<String> broken;
    private final Map<String, Lock> locks = new HashMap<>();

    /** @param isExcused whether the grant with a token was ended by force, or by a store that lost or jumped */
    Promises(World world, LongPredicate isExcused, Consumer<String> broken) {
        this.world = world;
        this.isExcused = isExcused;
        this.broken = broken;
    }

    private Lock lock(String key) {
        return locks.computeIfAbsent(key, unused -> new Lock());
    }

    void begins(Holding hold) {
        Lock lock = lock(hold.key);
        long token = hold.handle.fencingToken();
        Long unused = lock.begun.putIfAbsent(token, world.now());
        if (!hold.isShared) {
            unused = lock.whole.putIfAbsent(token, world.now());
        }
        lock.open.forEach(promise -> judge(lock, promise));
        lock.open.removeIf(promise -> promise.until < world.now());
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
        Map.Entry<Long, Long> next = (hold.isShared ? lock.whole : lock.begun).higherEntry(granted | ~Holding.MASK);
        if (isCurrent && next != null && next.getValue() < asked) {
            broken.accept(hold + " was told that it is the one in force, after token " + next.getKey() + " began");
        }
    }

    /** May be heard of when the next one has begun. */
    private void make(Holding hold) {
        Promise promise = new Promise(hold.handle.fencingToken(), hold.takenUntil(), hold.toString());
        Lock lock = lock(hold.key);
        lock.open.add(promise);
        judge(lock, promise);
    }

    private void judge(Lock lock, Promise promise) {
        Map.Entry<Long, Long> next = lock.begun.higherEntry(promise.token);
        if (next != null && next.getValue() < promise.until - SLACK && !isExcused.test(promise.token)) {
            broken.accept("after " + promise.hold + " the lock was to stay taken, and token " + next.getKey()
                    + " began " + (promise.until - next.getValue()) / 1_000 + " us before the end");
        }
    }
}
