package io.github.reactivelock.quorum;

import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What is known of a claim between its rounds: which nodes gave it their vote since, and its token once it is fixed.
 * Rounds of one claim follow one another; pushes may come at any time, and at worst cause a round too many.
 */
final class Candidacy {

    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");

    private final String key;
    private final long ticket = ChronoUnit.MICROS.between(EPOCH, Instant.now());
    private final Set<Integer> votes = ConcurrentHashMap.newKeySet();
    private volatile boolean waitedForMore;
    private volatile long fencingToken;

    Candidacy(String key) {
        this.key = key;
    }

    /** Orders it among others that wait; older ones come first. */
    long ticket() {
        return ticket;
    }

    String key() {
        return key;
    }

    /** The token written back to a majority, or zero. */
    long fencingToken() {
        return fencingToken;
    }

    void fence(long token) {
        fencingToken = token;
    }

    /** Counts a vote that was pushed; how many there are now. */
    int add(int node) {
        votes.add(node);
        return votes.size();
    }

    /** The votes a round ended with. */
    void keep(Set<Integer> now) {
        votes.clear();
        votes.addAll(now);
        waitedForMore = !now.isEmpty();
    }

    /** Whether votes were kept after the last round already, in vain; then they are to be given back. */
    boolean giveBackNow() {
        boolean inVain = waitedForMore;
        if (inVain) {
            keep(Set.of());
        }
        return inVain;
    }
}
