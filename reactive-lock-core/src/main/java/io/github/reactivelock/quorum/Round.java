package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Vote;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The answers of all nodes to one question, and what they come to. A pure count: it asks nobody. Only answers of this
 * round are in it, so a majority never rests on a vote that may have run out since.
 */
final class Round {

    private record Failure(int node, Throwable cause) {}

    private final int nodes;
    private final Duration longestLease;
    private final Set<Integer> granted = new HashSet<>();
    private final Set<Integer> grantedTooYoung = new HashSet<>();
    private final Set<String> incarnations = new HashSet<>();
    private final List<Failure> failures = new ArrayList<>();
    private final List<Duration> waits = new ArrayList<>();
    private int tooYoung;
    private long highestToken;
    private @Nullable String sameServer;

    Round(int nodes, Duration longestLease) {
        this.nodes = nodes;
        this.longestLease = longestLease;
    }

    void add(int node, Vote vote) {
        if (!incarnations.add(vote.incarnation())) {
            sameServer = "node " + (node + 1) + " is the same server as another node of this quorum; give each its own";
        }
        boolean counts = vote.uptime().compareTo(longestLease) >= 0;
        if (!counts) {
            tooYoung++;
            waits.add(longestLease.minus(vote.uptime()));
        }
        if (vote.result() instanceof ClaimResult.Granted grant) {
            (counts ? granted : grantedTooYoung).add(node);
            if (counts) {
                highestToken = Math.max(highestToken, grant.fencingToken());
            }
        } else if (vote.result() instanceof ClaimResult.Queued queued && counts) {
            waits.add(queued.recheckAfter());
        }
    }

    void addFailure(int node, Throwable cause) {
        failures.add(new Failure(node, cause));
    }

    private int majority() {
        return nodes / 2 + 1;
    }

    boolean isDecided() {
        return sameServer != null || isGranted() || failures.size() >= majority();
    }

    boolean isGranted() {
        return sameServer == null && granted.size() >= majority();
    }

    /** Too few nodes answered for anybody to win or wait. */
    boolean isUnanswered() {
        return sameServer != null || failures.size() >= majority();
    }

    /** Some votes, but not enough: others may have the rest. */
    boolean isSplit() {
        return !isGranted() && !(granted.isEmpty() && grantedTooYoung.isEmpty());
    }

    Set<Integer> votes() {
        Set<Integer> all = new HashSet<>(granted);
        all.addAll(grantedTooYoung);
        return all;
    }

    long highestToken() {
        return highestToken;
    }

    /** When as many nodes as a majority needs may have become free. */
    Duration untilFree() {
        List<Duration> sorted = waits.stream().sorted().toList();
        return sorted.isEmpty() ? longestLease : sorted.get(Math.min(sorted.size(), majority()) - 1);
    }

    IllegalStateException failure() {
        if (sameServer != null) {
            return new IllegalStateException(sameServer);
        }
        StringBuilder text = new StringBuilder("only " + (nodes - failures.size()) + " of " + nodes
                + " nodes answered and " + majority() + " are needed");
        if (tooYoung > 0) {
            text.append(", ")
                    .append(tooYoung)
                    .append(" of them started less than ")
                    .append(longestLease.toMillis())
                    .append(" ms ago and not counted yet");
        }
        for (Failure failure : failures) {
            text.append("; node ")
                    .append(failure.node() + 1)
                    .append(": ")
                    .append(failure.cause().getMessage());
        }
        IllegalStateException summary = new IllegalStateException(text.toString());
        failures.forEach(failure -> summary.addSuppressed(failure.cause()));
        return summary;
    }
}
