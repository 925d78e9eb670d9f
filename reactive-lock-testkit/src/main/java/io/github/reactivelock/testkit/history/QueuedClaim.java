package io.github.reactivelock.testkit.history;

import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** The course of one claim at the store, built event by event. */
final class QueuedClaim {

    private final String key;
    private final String id;
    private final boolean isWhole;
    private final long asked;
    private long queued = Flow.NEVER;
    private long served = Flow.NEVER;
    private long token;
    private long withdrawn = Long.MAX_VALUE;

    QueuedClaim(HistoryEvent first) {
        key = first.key();
        id = first.id();
        isWhole = first.share().isWhole();
        asked = first.at();
    }

    void add(HistoryEvent event) {
        switch (event.kind()) {
            case QUEUED -> queued = queued == Flow.NEVER && served == Flow.NEVER ? event.at() : queued;
            case SERVED -> {
                if (served == Flow.NEVER) {
                    served = event.at();
                    token = event.token();
                }
            }
            case WITHDRAWN -> withdrawn = event.at();
            default -> {}
        }
    }

    /** Pairs whose later claim was served first, at most one for every claim that was overtaken. */
    static List<String> disorders(Collection<QueuedClaim> claims, Times times) {
        Map<String, List<QueuedClaim>> servedByKey = new HashMap<>();
        for (QueuedClaim claim : claims) {
            if (claim.served != Flow.NEVER) {
                servedByKey.computeIfAbsent(claim.key, key -> new ArrayList<>()).add(claim);
            }
        }
        servedByKey.values().forEach(served -> served.sort(Comparator.comparingLong(claim -> claim.served)));
        List<String> found = new ArrayList<>();
        for (QueuedClaim waiting : claims) {
            if (waiting.queued != Flow.NEVER) {
                List<QueuedClaim> served = servedByKey.getOrDefault(waiting.key, List.of());
                served.subList(firstServedAfter(served, waiting.queued), served.size()).stream()
                        .takeWhile(other -> other.served < waiting.left())
                        .filter(other -> other.overtook(waiting) && !times.excuseDisorder(waiting.queued, other.served))
                        .findFirst()
                        .ifPresent(other -> found.add("claim " + other.id + " of '" + waiting.key
                                + "' was served before claim " + waiting.id + ", which had queued before it was sent"));
            }
        }
        return found;
    }

    private long left() {
        return served == Flow.NEVER ? withdrawn : served;
    }

    /** A share that left without news may have been granted; that would have kept others out, but not shares. */
    private boolean overtook(QueuedClaim waiting) {
        boolean wasBefore = waiting.served == Flow.NEVER ? isWhole || waiting.isWhole : token < waiting.token;
        return asked > waiting.queued && wasBefore;
    }

    private static int firstServedAfter(List<QueuedClaim> served, long time) {
        int low = 0;
        int high = served.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (served.get(middle).served < time) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }
}
