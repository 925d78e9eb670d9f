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
    private @Nullable Waiter first;
    private @Nullable Waiter last;
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
        @Nullable Waiter found = isNearFirst ? first : last;
        for (int steps = isNearFirst ? place : size - 1 - place; found != null && steps != 0; steps--) {
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
        size++;
        waiter.ahead = last;
        if (last == null) {
            first = waiter;
        } else {
            last.behind = waiter;
        }
        last = waiter;
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
            unlink(next);
            if (next.take()) {
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

    private boolean remove(Waiter waiter) {
        if (waiter.ahead == null && first != waiter) {
            return false;
        }
        unlink(waiter);
        return true;
    }

    private void unlink(Waiter waiter) {
        Waiter before = waiter.ahead;
        Waiter after = waiter.behind;
        size--;
        if (before == null) {
            first = after;
        } else {
            before.behind = after;
        }
        if (after == null) {
            last = before;
        } else {
            after.ahead = before;
        }
        waiter.ahead = null;
        waiter.behind = null;
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
    public void end(Consumer<Waiter> each) {
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
        List<Waiter> found = new ArrayList<>(count);
        for (Waiter each = last; each != null && found.size() < count; each = each.ahead) {
            found.add(each);
        }
        Collections.reverse(found);
        return found;
    }
}
