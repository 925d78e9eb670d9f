package io.github.reactivelock.quorum;

import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/**
 * What is known of a claim between its rounds: which nodes gave it their vote since, and its token once it is fixed. A
 * round may still be under way when the engine, out of patience, begins the next: whichever comes first of winning and
 * giving votes back rules the other out. Guarded by its monitor; nothing slow happens inside.
 */
final class Candidacy {

    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");
    private static final int SHORTEST_MOMENT_MS = 5;
    private static final int LONGEST_FIRST_MOMENT_MS = 50;
    private static final int MOST_DOUBLINGS = 5;
    private static final int PATIENCE = 4;

    private final long ticket = ChronoUnit.MICROS.between(EPOCH, Instant.now());
    private final Set<Integer> votes = new HashSet<>();
    private int inVain;
    private int timesGivenBack;
    private boolean won;
    private long fencingToken;

    /** Orders it among others that wait; older ones come first. */
    long ticket() {
        return ticket;
    }

    /** The highest token that was written back to a majority for it, or zero. */
    synchronized long fencingToken() {
        return fencingToken;
    }

    synchronized boolean isWaiting() {
        return !won;
    }

    /** What a round is to remember from its beginning, to be told whether its votes are still there. */
    synchronized int timesGivenBack() {
        return timesGivenBack;
    }

    /** Ends the candidacy with a grant, unless votes were given back since the round began. */
    synchronized boolean win(long token, int timesGivenBackBefore) {
        if (timesGivenBack != timesGivenBackBefore) {
            return false;
        }
        fencingToken = token;
        won = true;
        inVain = 0;
        votes.clear();
        return true;
    }

    /** A round ended without votes that matter. */
    synchronized void waitOn() {
        won = false;
        inVain = 0;
        votes.clear();
    }

    /** A round ended with too few votes, and nobody older waits for them. They are kept for a while. */
    synchronized boolean isOutOfPatience(Set<Integer> now) {
        votes.clear();
        votes.addAll(now);
        return ++inVain % PATIENCE == 0;
    }

    /** Whether votes may be given back, which they may not once they have won. */
    synchronized boolean mayGiveBack() {
        if (!won) {
            timesGivenBack++;
            votes.clear();
        }
        return !won;
    }

    /** Counts a vote that was pushed; how many there are now. */
    synchronized int add(int node) {
        votes.add(node);
        return votes.size();
    }

    /** A random time, so that of several claims with some votes each one gives way first. */
    static Duration moment() {
        return moment(LONGEST_FIRST_MOMENT_MS);
    }

    /** A moment that grows as it is waited for in vain: somebody may have the lock for long, on all nodes but a few. */
    synchronized Duration growingMoment() {
        return moment(LONGEST_FIRST_MOMENT_MS << Math.min(inVain, MOST_DOUBLINGS));
    }

    private static Duration moment(int longest) {
        return Duration.ofMillis(ThreadLocalRandom.current().nextInt(SHORTEST_MOMENT_MS, longest));
    }
}
