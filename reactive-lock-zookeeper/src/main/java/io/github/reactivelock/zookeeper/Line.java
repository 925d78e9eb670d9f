package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.support.QueueLine;
import io.github.reactivelock.state.Share;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The claims of one lock in their order, decided from nothing but the names of their nodes, {@link QueueLine}.
 *
 * @param queue first come first
 * @param index where claims stand, so that one look at a long line serves many of them
 */
record Line(QueueLine<SequenceNode> queue, Index index) {

    /** No claim at all. */
    static final Line NONE = of(List.of());

    /**
     * Where claims stand.
     *
     * @param first of each claim's nodes
     * @param repeated the claims with further ones
     * @param lastWhole for each place, the last one before it for the whole, or -1
     */
    record Index(Map<String, Integer> first, Set<String> repeated, List<Integer> lastWhole) {

        static Index of(List<SequenceNode> places) {
            Map<String, Integer> first = new HashMap<>(places.size() * 2);
            Set<String> repeated = new HashSet<>(0);
            List<Integer> lastWhole = new ArrayList<>(places.size());
            int whole = -1;
            for (int i = 0; i < places.size(); i++) {
                SequenceNode place = places.get(i);
                if (first.putIfAbsent(place.claimId(), i) != null) {
                    repeated.add(place.claimId());
                }
                lastWhole.add(whole);
                whole = place.share().isWhole() ? i : whole;
            }
            return new Index(first, repeated, lastWhole);
        }
    }

    static Line of(List<String> names) {
        List<SequenceNode> places = new ArrayList<>(names.size());
        for (String name : names) {
            SequenceNode place = SequenceNode.of(name);
            if (place != null) {
                places.add(place);
            }
        }
        if (places.size() > 1) {
            int some = places.get(0).number();
            places.sort(Comparator.comparingInt(place -> place.number() - some));
        }
        return new Line(QueueLine.of(places, SequenceNode::share), Index.of(places));
    }

    /** Whether a claim that came now would be in. */
    boolean admits(Share share) {
        return queue.admits(share);
    }

    boolean has(String claimId) {
        return index.first.containsKey(claimId);
    }

    List<SequenceNode> places() {
        return queue.claims();
    }

    /** How many of them hold the lock. */
    int holders() {
        return queue.in();
    }

    /** How many units they take. */
    long units() {
        return queue.units();
    }

    List<SequenceNode> held() {
        return queue.holders();
    }

    List<SequenceNode> waiting() {
        return queue.waiting();
    }
}
