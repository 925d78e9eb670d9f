package io.github.reactivelock;

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

    private @Nullable Waiter first;
    /** Those behind the first; none while there are none. */
    private @Nullable Set<Waiter> others;

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

    /** False if it was not here. */
    boolean remove(Waiter waiter) {
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

    List<Waiter> all() {
        List<Waiter> all = new ArrayList<>();
        if (first != null) {
            all.add(first);
        }
        if (others != null) {
            all.addAll(others);
        }
        return all;
    }

    /** Takes all of them out. */
    void end(Consumer<Waiter> each) {
        List<Waiter> ended = all();
        first = null;
        others = null;
        ended.forEach(each);
    }
}
