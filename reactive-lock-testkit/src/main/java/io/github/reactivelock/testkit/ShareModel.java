package io.github.reactivelock.testkit;

import io.github.reactivelock.spi.Claim;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * What the rule of shares says: the first in the queue is granted as soon as it fits, and no other claim overtakes it.
 */
final class ShareModel {

    final List<Claim> waiting = new ArrayList<>();
    final Map<String, Claim> held = new LinkedHashMap<>();

    /** A claim comes, and perhaps is granted at once. */
    boolean ask(Claim claim) {
        waiting.add(claim);
        return !serve().isEmpty();
    }

    /** A claim leaves; who is granted by that. */
    List<Claim> end(Claim claim) {
        held.remove(claim.id());
        waiting.remove(claim);
        return serve();
    }

    long used() {
        return held.values().stream().mapToLong(claim -> claim.share().units()).sum();
    }

    private List<Claim> serve() {
        List<Claim> granted = new ArrayList<>();
        while (!waiting.isEmpty()) {
            Claim first = waiting.get(0);
            if (used() + first.share().units() > first.share().capacity()) {
                break;
            }
            waiting.remove(0);
            held.put(first.id(), first);
            granted.add(first);
        }
        return granted;
    }
}
