package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.LockInfo.Holder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The holds of one owner as nodes show them. Several claims of an owner may share a lock, and nothing says which of
 * them a number is of. So beside those that a majority shows with the same number there are as many as a majority of
 * nodes shows more.
 *
 * @param agreed with numbers that a majority shows
 * @param likely with the lowest number of each that a node shows as if it were a grant's
 * @param isOpen silent nodes may show so many that there are more
 */
record Owner(List<Holder> agreed, List<Holder> likely, boolean isOpen) {

    private static final Comparator<Holder> OLDEST_FIRST = Comparator.comparingLong(Holder::fencingToken);
    private static final Comparator<Holder> GRANTS_FIRST =
            Comparator.comparing(holder -> !QuorumNode.mayBeAGrants(holder.fencingToken()));

    /**
     * @param shown by each node that answered
     * @param nodes how many there are
     */
    static Owner of(String name, List<List<Holder>> shown, int nodes) {
        int majority = nodes / 2 + 1;
        List<List<Holder>> its = new ArrayList<>();
        Map<Long, Integer> votes = new HashMap<>();
        List<Holder> agreed = new ArrayList<>();
        List<Long> counts = new ArrayList<>();
        for (List<Holder> holders : shown) {
            List<Holder> ofNode = holders.stream()
                    .filter(holder -> holder.owner().equals(name))
                    .sorted(OLDEST_FIRST)
                    .toList();
            its.add(ofNode);
            counts.add((long) ofNode.size());
            for (Holder holder : ofNode) {
                if (votes.merge(holder.fencingToken(), 1, Integer::sum) == majority
                        && QuorumNode.mayBeAGrants(holder.fencingToken())) {
                    agreed.add(holder);
                }
            }
        }
        Set<Long> numbers = agreed.stream().map(Holder::fencingToken).collect(Collectors.toSet());
        List<Holder> likely = new ArrayList<>();
        long sure = ofMajority(counts, majority);
        for (int i = 0; agreed.size() + i < sure; i++) {
            Holder lowest = lowest(its, i, numbers);
            if (QuorumNode.mayBeAGrants(lowest.fencingToken())) {
                likely.add(lowest);
            }
        }
        int heard = majority - (nodes - shown.size());
        long most = heard <= 0 ? Long.MAX_VALUE : ofMajority(counts, heard);
        return new Owner(agreed, likely, most > Math.max(sure, agreed.size()));
    }

    /**
     * The lowest of what nodes show in that place, without what a majority shows. A number that a node gave by itself
     * is taken only where there is no other.
     */
    private static Holder lowest(List<List<Holder>> shown, int place, Set<Long> agreed) {
        return shown.stream()
                .map(ofNode -> ofNode.stream()
                        .filter(holder -> !agreed.contains(holder.fencingToken()))
                        .skip(place)
                        .findFirst())
                .flatMap(Optional::stream)
                .min(GRANTS_FIRST.thenComparing(OLDEST_FIRST))
                .orElseThrow();
    }

    /** What so many of the counts are at least. */
    static long ofMajority(List<Long> counts, int many) {
        List<Long> sorted = new ArrayList<>(counts);
        sorted.sort(Collections.reverseOrder());
        return many > sorted.size() ? 0 : sorted.get(many - 1);
    }
}
