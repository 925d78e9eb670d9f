package io.github.reactivelock.engine.flow;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.engine.claim.Grant;
import io.github.reactivelock.engine.time.Timing;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * The flows that stand in a {@code Cohort}, in the order in which they came, and can leave it at any place. Each flow
 * knows its neighbours, so a queue takes no memory of its own; a flow stands in one queue at most. Touched only inside
 * its key's events.
 */
public final class WaitingFlows {

    /** What they wait for. */
    public interface Key {
        /** A flow has left, or its hold. */
        void depart();
    }

    private final Key key;
    /** They stand in a ring, so that the last of them is ahead of the first. */
    private @Nullable Waiter first;

    private int size;
    /** When another flow was last known to have it, or {@link Timing#NEVER}. */
    private long takenAt = Timing.NEVER;

    public WaitingFlows(Key key) {
        this.key = key;
    }

    @Nullable
    public Waiter first() {
        return first;
    }

    public int size() {
        return size;
    }

    /** The one that so many stand ahead of, found from the nearer end; none if there are not as many. */
    @Nullable
    public Waiter at(int place) {
        boolean isNearFirst = place < size / 2;
        @Nullable Waiter found = place < size ? first : null;
        for (int steps = isNearFirst ? place : size - place; found != null && steps != 0; steps--) {
            found = isNearFirst ? found.behind : found.ahead;
        }
        return found;
    }

    /** What the first of them wants. */
    @Nullable
    public LockOptions wanted() {
        return first == null ? null : first.options;
    }

    public void add(Waiter waiter) {
        Waiter next = first;
        Waiter last = next == null ? null : next.ahead;
        size++;
        if (next == null || last == null) {
            first = waiter;
            join(waiter, waiter);
        } else {
            join(last, waiter);
            join(waiter, next);
        }
    }

    private static void join(Waiter before, Waiter after) {
        before.behind = after;
        after.ahead = before;
    }

    /** Another flow has what they wait for, or the store answered that it is taken. */
    public void sawItTaken(long now) {
        takenAt = now;
    }

    /** Those who go on waiting elsewhere saw there what they saw here. */
    public void sawItTaken(WaitingFlows before) {
        takenAt = before.takenAt;
    }

    /** Whether another flow was known to have it while this one waited. */
    public boolean sawItTaken(Waiter waiter) {
        return takenAt != Timing.NEVER && takenAt - waiter.since() >= 0;
    }

    /** The next flow that still wants the lock and takes it; none if none does, or the first wants another grant. */
    @Nullable
    public Waiter next(Grant grant) {
        while (first != null && grant.suits(first.options)) {
            Waiter next = first;
            if (remove(next) && next.take()) {
                next.metOthers |= sawItTaken(next);
                return next;
            }
            key.depart();
        }
        return null;
    }

    /** A flow leaves; false if it was not here. */
    public boolean leave(Waiter waiter) {
        boolean removed = remove(waiter);
        if (removed) {
            key.depart();
        }
        return removed;
    }

    /** Only those that stand here have neighbours, which may be themselves. */
    private boolean remove(Waiter waiter) {
        Waiter before = waiter.ahead;
        Waiter after = waiter.behind;
        if (before == null || after == null) {
            return false;
        }
        size--;
        join(before, after);
        if (first == waiter) {
            first = size == 0 ? null : after;
        }
        waiter.ahead = null;
        waiter.behind = null;
        return true;
    }

    /** All go to wait elsewhere, one after the other. */
    public void leaveTogether(Consumer<Waiter> each) {
        for (Waiter waiter : all()) {
            if (remove(waiter)) {
                each.accept(waiter);
            }
        }
    }

    /** Ends the wait of all. */
    public void endAll(Consumer<Waiter> each) {
        endLast(size, each);
    }

    /** Ends the wait of so many, of those who came last. */
    public void endLast(int count, Consumer<Waiter> each) {
        for (Waiter waiter : last(count)) {
            if (remove(waiter)) {
                each.accept(waiter);
                key.depart();
            }
        }
    }

    /** Ends the wait of those who want the same. */
    public void endThoseOf(Predicate<LockOptions> wanted, Consumer<Waiter> each) {
        for (Waiter waiter : all()) {
            if (wanted.test(waiter.options) && remove(waiter)) {
                each.accept(waiter);
                key.depart();
            }
        }
    }

    private List<Waiter> all() {
        return last(size);
    }

    private List<Waiter> last(int count) {
        int most = Math.min(count, size);
        List<Waiter> found = new ArrayList<>(most);
        Waiter each = first == null ? null : first.ahead;
        while (each != null && found.size() < most) {
            found.add(each);
            each = each.ahead;
        }
        Collections.reverse(found);
        return found;
    }
}
