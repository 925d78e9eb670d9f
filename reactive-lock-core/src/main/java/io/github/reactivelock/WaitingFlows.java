package io.github.reactivelock;

import io.github.reactivelock.spi.Claim;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * The flows that stand in a {@link Cohort}, in the order in which they came, and can leave it at any place. Most locks are
 * held without a second one, so there is no table for one. Touched only inside its key's events.
 */
final class WaitingFlows {

    /** What they wait for. */
    interface Key {
        /** A flow has left, or its hold. */
        void depart();
    }

    private final Key key;
    private @Nullable Waiter first;
    /** Those behind the first; none while there are none. */
    private @Nullable Set<Waiter> others;

    WaitingFlows(Key key) {
        this.key = key;
    }

    @Nullable
    Waiter first() {
        return first;
    }

    /** What the first of them wants. */
    @Nullable
    LockOptions wanted() {
        return first == null ? null : first.options;
    }

    void add(Waiter waiter) {
        if (first == null) {
            first = waiter;
            return;
        }
        if (others == null) {
            others = new LinkedHashSet<>(4);
        }
        others.add(waiter);
    }

    /** The next flow that still wants the lock and takes it; none if none does, or the first wants another grant. */
    @Nullable
    Waiter next(Grant grant) {
        while (first != null && grant.suits(first.options)) {
            Waiter next = first;
            boolean unused = remove(next);
            if (next.take()) {
                return next;
            }
            key.depart();
        }
        return null;
    }

    /** A flow leaves; false if it was not here. */
    boolean leave(Waiter waiter) {
        boolean removed = remove(waiter);
        if (removed) {
            key.depart();
        }
        return removed;
    }

    private boolean remove(Waiter waiter) {
        boolean removed = true;
        if (first == waiter) {
            first = others == null ? null : removeFirst(others);
        } else {
            removed = others != null && others.remove(waiter);
        }
        if (others != null && others.isEmpty()) {
            others = null;
        }
        return removed;
    }

    private static Waiter removeFirst(Set<Waiter> line) {
        Iterator<Waiter> all = line.iterator();
        Waiter next = all.next();
        all.remove();
        return next;
    }

    /** Ends the wait of all. */
    void end(Consumer<Waiter> each) {
        List<Waiter> ended = all();
        first = null;
        others = null;
        for (Waiter waiter : ended) {
            each.accept(waiter);
            key.depart();
        }
    }

    /** Ends the wait of those who want what a claim asked for. */
    void endThoseOf(Claim claim, Consumer<Waiter> each) {
        for (Waiter waiter : all()) {
            if (waiter.options.suit(claim) && remove(waiter)) {
                each.accept(waiter);
                key.depart();
            }
        }
    }

    private List<Waiter> all() {
        List<Waiter> all = new ArrayList<>();
        if (first != null) {
            all.add(first);
        }
        if (others != null) {
            all.addAll(others);
        }
        return all;
    }
}
