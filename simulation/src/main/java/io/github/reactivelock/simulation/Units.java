package io.github.reactivelock.simulation;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The units of a lock that are in use beside a flow which begins. What was granted later is not its affair: each claim
 * is granted by a capacity of its own. What was granted before and is in was in when the flow's claim was granted.
 */
final class Units {

    final long token;
    /** When it began. */
    final long since;

    private final Holding own;
    private final List<Holding> others = new ArrayList<>();
    /** Whose units are counted: of permits each flow, of readers all that share a claim at once. */
    private final Set<Object> counted = new HashSet<>();

    private long used;

    Units(Holding own, List<Holding> inside, long since) {
        this.own = own;
        this.token = own.handle.fencingToken();
        this.since = since;
        this.used = own.share.units();
        counted.add(user(own));
        inside.stream().filter(other -> other != own).forEach(other -> {
            take(other);
        });
    }

    /** One that is over and keeps what it had; its claim may have been counted with a flow that was in before. */
    boolean takeKept(Holding kept) {
        return others.stream().noneMatch(other -> other.granted() == kept.granted()) && take(kept);
    }

    /** False if it is counted already, or came later. */
    private boolean take(Holding other) {
        if (other.granted() > own.granted() || !counted.add(user(other))) {
            return false;
        }
        used += other.share.units();
        return others.add(other);
    }

    private static Object user(Holding of) {
        return of.isReader() ? (Object) of.granted() : of;
    }

    boolean areTooMany() {
        return used > own.share.capacity();
    }

    String others() {
        return others.stream().map(Holding::toString).collect(Collectors.joining(" and "));
    }
}
