package io.github.reactivelock.etcd;

import java.util.BitSet;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Gives places to claims, and the same ones again once the store has confirmed that their keys are gone: a range of
 * keys leads etcd over every name that was ever in it, until its history is compacted, so with a new name for each
 * claim a lock would become slower with every acquisition. If a key may still appear after its claim has ended, its
 * place is never used again, and no other of its series either. Safe for use from any thread.
 */
final class KeySlots {

    private final Supplier<String> session;
    private final Map<String, BitSet> taken = new HashMap<>();
    private int series;

    KeySlots(Supplier<String> session) {
        this.session = session;
    }

    synchronized KeySlot take(String key) {
        BitSet numbers = taken.computeIfAbsent(key, k -> new BitSet());
        int free = numbers.nextClearBit(0);
        numbers.set(free);
        return new KeySlot(key, session.get(), series, free);
    }

    /** How many claims of this client have a place on a lock, as far as names are used again. */
    synchronized int count(String key) {
        BitSet numbers = taken.get(key);
        return numbers == null ? 0 : numbers.cardinality();
    }

    /** Nothing is at the place, and nothing will be. */
    synchronized void giveBack(KeySlot place) {
        BitSet numbers = place.series() == series ? taken.get(place.key()) : null;
        if (numbers != null) {
            numbers.clear(place.number());
            if (numbers.isEmpty()) {
                taken.remove(place.key());
            }
        }
    }

    /** Something may be at the place, or come to be there. */
    synchronized void discard(KeySlot place) {
        if (place.series() == series) {
            series++;
            taken.clear();
        }
    }
}
