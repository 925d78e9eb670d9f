package io.github.reactivelock.quorum;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * What is known of a claim between its rounds: which nodes gave it their vote since, and its token once it is fixed.
 * Rounds of one claim follow one another; pushes may come at any time, and at worst cause a round too many.
 */
final class Candidacy {

    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");
    private static final int SHORTEST_MOMENT_MS = 5;
    private static final int LONGEST_FIRST_MOMENT_MS = 50;
    private static final int MOST_DOUBLINGS = 5;

    private final long ticket = ChronoUnit.MICROS.between(EPOCH, Instant.now());
    private final Set<Integer> votes = ConcurrentHashMap.newKeySet();
    private volatile boolean waitedForMore;
    private final AtomicInteger givenBack = new AtomicInteger();
    private volatile boolean won;
    private volatile long fencingToken;

    /** Orders it among others that wait; older ones come first. */
    long ticket() {
        return ticket;
    }

    /** The highest token that was written back to a majority for it, or zero. */
    long fencingToken() {
        return fencingToken;
    }

    boolean isWaiting() {
        return !won;
    }

    void win(long token) {
        fencingToken = token;
        won = true;
        votes.clear();
        waitedForMore = false;
    }

    /** A round ended without votes that matter. */
    void waitOn() {
        won = false;
        votes.clear();
        waitedForMore = false;
        givenBack.set(0);
    }

    /**
     * A round ended with too few votes. They are kept once, in the hope of more; the next time they are to be given
     * back, which is what true means.
     */
    boolean giveBack(Set<Integer> now) {
        boolean inVain = waitedForMore;
        won = false;
        votes.clear();
        if (inVain) {
            int unused = givenBack.incrementAndGet();
        } else {
            votes.addAll(now);
        }
        waitedForMore = !inVain;
        return inVain;
    }

    /** Counts a vote that was pushed; how many there are now. */
    int add(int node) {
        votes.add(node);
        return votes.size();
    }

    /**
     * A random time, so that of several claims with some votes each one gives way first. It grows with each time that
     * votes were given back: the others may hold the lock for long, on all nodes but a few.
     */
    Duration moment() {
        int longest = LONGEST_FIRST_MOMENT_MS << Math.min(givenBack.get(), MOST_DOUBLINGS);
        return Duration.ofMillis(ThreadLocalRandom.current().nextInt(SHORTEST_MOMENT_MS, longest));
    }
}
