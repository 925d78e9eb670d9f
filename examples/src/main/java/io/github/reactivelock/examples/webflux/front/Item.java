package io.github.reactivelock.examples.webflux.front;

import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;

/**
 * The lock of an item as the store tells of it, and what was sold. Immutable.
 *
 * @param item its name
 * @param holder the instance that holds it; empty if it is free
 * @param last the instance that had it last, or has it; empty before the first
 * @param token of the last grant; 0 before the first
 * @param sold how many were sold
 * @param moves how often it went from one instance to another
 * @param killed the instance that was killed while it held the lock, until the next one has it; empty otherwise
 * @param killedAt when, in microseconds
 */
record Item(String item, String holder, String last, long token, int sold, int moves, String killed, long killedAt) {

    static Item free(String item) {
        return new Item(item, "", "", 0, 0, 0, "", 0);
    }

    Item sold(int count) {
        return new Item(item, holder, last, token, count, moves, killed, killedAt);
    }

    /** An instance has died; the lock stays its own until the lease has run out. */
    Item died(String instance, long when) {
        return new Item(item, holder, last, token, sold, moves, instance, when);
    }

    Item told(LockEvent event) {
        if (event instanceof LockEvent.Acquired acquired) {
            return granted(acquired.owner(), acquired.fencingToken());
        }
        if (event instanceof LockEvent.Snapshot snapshot) {
            return snapshot.info() instanceof LockInfo.Held now ? granted(now.owner(), now.fencingToken()) : freed();
        }
        boolean ofThisHold = event instanceof LockEvent.Released released && token == released.fencingToken();
        return ofThisHold ? freed() : this;
    }

    private Item granted(String owner, long fencingToken) {
        if (fencingToken <= token) {
            return this;
        }
        boolean moved = !last.isEmpty() && !last.equals(owner);
        return new Item(item, owner, owner, fencingToken, sold, moved ? moves + 1 : moves, "", 0);
    }

    private Item freed() {
        return new Item(item, "", last, token, sold, moves, killed, killedAt);
    }

    /** No flow waited for the end of a killed instance's lease; one that comes later does not follow it. */
    Item settled() {
        return new Item(item, holder, last, token, sold, moves, "", 0);
    }
}
