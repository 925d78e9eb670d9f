package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One item as the page shows it. Immutable.
 *
 * @param item the item
 * @param holder the client that holds the lock, as the store says; empty if the lock is free
 * @param token the fencing token of the store's last grant; empty before the first
 * @param sold the number sold, as the shelf says
 * @param waiting orders that were placed and are not yet served, in that order
 * @param served the last orders that got the item, the latest first
 */
record Lane(String item, String holder, String token, int sold, List<Waiting> waiting, List<Receipt> served) {

    private static final int KEPT = 6;

    static Lane empty(String item) {
        return new Lane(item, "", "", 0, List.of(), List.of());
    }

    Lane asked(Order order) {
        List<Waiting> longer = new ArrayList<>(waiting);
        longer.add(new Waiting(order.number(), order.till()));
        return new Lane(item, holder, token, sold, List.copyOf(longer), served);
    }

    Lane started(Order order, Receipt receipt) {
        List<Receipt> latest = new ArrayList<>(served.subList(0, Math.min(served.size(), KEPT - 1)));
        latest.add(0, receipt);
        return new Lane(item, holder, token, sold, waiting, List.copyOf(latest)).left(order);
    }

    /** An order that gave up, or no longer waits. */
    Lane left(Order order) {
        List<Waiting> others =
                waiting.stream().filter(one -> one.order() != order.number()).toList();
        return new Lane(item, holder, token, sold, others, served);
    }

    Lane sold(int sold) {
        return new Lane(item, holder, token, sold, waiting, served);
    }

    Lane told(LockEvent event) {
        if (event instanceof LockEvent.Acquired acquired) {
            return held(acquired.owner(), "" + acquired.fencingToken());
        }
        if (event instanceof LockEvent.Snapshot snapshot) {
            return snapshot.info() instanceof LockInfo.Held now
                    ? held(now.owner(), "" + now.fencingToken())
                    : held("", token);
        }
        boolean ofThisHold = event instanceof LockEvent.Released released && token.equals("" + released.fencingToken());
        return ofThisHold ? held("", token) : this;
    }

    private Lane held(String owner, String fencingToken) {
        return new Lane(item, owner, fencingToken, sold, waiting, served);
    }

    /** The order that this one follows, if there was one before. */
    @Nullable
    Receipt latest() {
        return served.isEmpty() ? null : served.get(0);
    }

    /**
     * An order in the queue.
     *
     * @param order its number
     * @param till where it was placed
     */
    record Waiting(int order, String till) {}
}
