package io.github.reactivelock.consul;

import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The claims of one lock in their order, decided from nothing but their keys. Those that hold the lock stand before all
 * that wait, because none overtakes: they are all up to the first that does not fit beside those before it. A claim
 * that fits does so from then on, however others come and go.
 *
 * @param places the claims, first come first
 * @param holders how many of them hold the lock
 * @param units how many units those have
 */
record Line(List<Entry> places, int holders, long units) {

    /** A key that no session has is no claim. */
    static Line of(List<Entry> keys) {
        List<Entry> places = new ArrayList<>(keys.size());
        for (Entry key : keys) {
            if (!key.session().isEmpty()) {
                places.add(key);
            }
        }
        places.sort(Comparator.comparingLong(Entry::created));
        int holders = 0;
        long units = 0;
        while (holders < places.size() && fits(places.get(holders).share(), units)) {
            units += places.get(holders).share().units();
            holders++;
        }
        return new Line(places, holders, units);
    }

    /** {@code models/Shares.tla: Fits}. */
    private static boolean fits(Share share, long used) {
        return used + share.units() <= share.capacity();
    }

    /** Whether a claim that came now would be in. */
    boolean admits(Share share) {
        return holders == places.size() && fits(share, units);
    }

    List<Entry> held() {
        return places.subList(0, holders);
    }

    List<Entry> waiting() {
        return places.subList(holders, places.size());
    }
}
