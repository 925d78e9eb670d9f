package io.github.reactivelock.blocking;

import io.github.reactivelock.state.Share;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * What threads hold through {@code asLock}, the innermost first. A thread changes only what is its own. Not a
 * {@code ThreadLocal}, which would leave an object on each thread that ever asked.
 */
final class ThreadHolds {

    private record Owned(Thread thread, String key) {}

    private record Hold(Share share, HeldLock lock) {}

    private static final int MANY = 1_024;

    private final Map<Owned, Deque<Hold>> holds = new ConcurrentHashMap<>();
    /** Look then whether there are some of threads that ended without an unlock. */
    private volatile int sweptAt = MANY;

    private static Owned owned(String key) {
        return new Owned(Thread.currentThread(), key);
    }

    /** What the calling thread got last of those that it holds. */
    @Nullable
    HeldLock innermost(String key) {
        Deque<Hold> own = holds.get(owned(key));
        return own == null ? null : own.getFirst().lock();
    }

    void add(String key, Share share, HeldLock lock) {
        if (holds.size() > sweptAt) {
            holds.keySet().removeIf(each -> !each.thread().isAlive());
            sweptAt = Math.max(MANY, 2 * holds.size());
        }
        holds.computeIfAbsent(owned(key), first -> new ArrayDeque<>()).addFirst(new Hold(share, lock));
    }

    /** The innermost that was asked for as this share; it is forgotten. */
    @Nullable
    HeldLock remove(String key, Share share) {
        Deque<Hold> own = holds.getOrDefault(owned(key), new ArrayDeque<>());
        for (Iterator<Hold> each = own.iterator(); each.hasNext(); ) {
            Hold hold = each.next();
            if (hold.share().equals(share)) {
                each.remove();
                if (own.isEmpty()) {
                    holds.remove(owned(key));
                }
                return hold.lock();
            }
        }
        return null;
    }
}
