package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.Vote;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongPredicate;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * The answers of all nodes to one question, and what they come to. A pure count: it asks no node. Only answers of this
 * round are in it, so a majority never rests on a vote that may have run out since.
 */
final class Round {

    private record Failure(int node, Throwable cause) {}

    private final int nodes;
    private final Duration longestLease;
    private final long ticket;
    private final long known;
    private final Set<Integer> unheard;
    private final Set<Integer> olderWait = new HashSet<>();
    /** A claim of another client with the same place. */
    private final Set<Integer> equalWait = new HashSet<>();

    private final Set<Integer> granted = new HashSet<>();
    /** Tokens of those votes, and how many votes have each. */
    private final Map<Long, Integer> tokens = new HashMap<>();
    /** Token of each vote, also of votes that do not count. */
    private final Map<Integer, Long> shown = new HashMap<>();

    private final Set<Integer> grantedTooYoung = new HashSet<>();
    private final Set<Integer> withoutUs = new HashSet<>();
    /** By how many nodes each owner is named that is not this claim, with its token. */
    private final Map<String, Integer> owners = new HashMap<>();
    /** The same, for any token. */
    private final Map<String, Integer> rivals = new HashMap<>();

    private final Set<String> incarnations = new HashSet<>();
    private final List<Failure> failures = new ArrayList<>();
    private final List<Duration> waits = new ArrayList<>();
    private int tooYoung;
    private long highestToken;
    private long agreedToken;
    private @Nullable String sameServer;

    /**
     * @param known the token of a grant of this claim that may still be in force, or zero
     * @param unheard nodes without which the round before ended; their vote may be ours
     */
    Round(int nodes, Duration longestLease, long ticket, long known, Set<Integer> unheard) {
        this.nodes = nodes;
        this.ticket = ticket;
        this.known = known;
        this.unheard = Set.copyOf(unheard);
        this.longestLease = longestLease;
    }

    /** A node that may have forgotten a vote has none, {@code models/Quorum.tla: YoungNodesDoNotCount}. */
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
            shown.put(node, grant.fencingToken());
            if (vote.firstWaiting() < ticket) {
                olderWait.add(node);
            } else if (vote.firstWaiting() == ticket) {
                equalWait.add(node);
            }
            if (counts) {
                highestToken = Math.max(highestToken, grant.fencingToken());
                if (tokens.merge(grant.fencingToken(), 1, Integer::sum) == majority()
                        && QuorumNode.mayBeAGrants(grant.fencingToken())) {
                    agreedToken = grant.fencingToken();
                }
            }
        } else {
            withoutUs.add(node);
            if (!vote.owner().isEmpty()) {
                rivals.merge(NodeIds.original(vote.owner()), 1, Integer::sum);
            }
            if (vote.owner().equals(Vote.SHARED)
                    || (!vote.owner().isEmpty() && QuorumNode.mayBeAGrants(vote.ownersToken()))) {
                owners.merge(NodeIds.original(vote.owner()) + ' ' + vote.ownersToken(), 1, Integer::sum);
            }
            if (vote.result() instanceof ClaimResult.Queued queued && counts) {
                waits.add(queued.recheckAfter());
            }
        }
    }

    void addFailure(int node, Throwable cause) {
        failures.add(new Failure(node, cause));
    }

    private int majority() {
        return nodes / 2 + 1;
    }

    private int silent() {
        return silentNodes().size();
    }

    /**
     * What is still to come cannot change the outcome. A vote that comes later is not counted, and not given back to an
     * older claim before the next round. So without a grant either a majority has refused its votes, which then are
     * others', or every node is heard; and no node is left out twice, or the votes of three claims could stay apart for
     * ever.
     */
    boolean isDecided() {
        if (isUnanswered() || (isGranted() && (silent() == 0 || isTokenCertain()))) {
            return true;
        }
        return granted.size() + silent() < majority()
                && (silent() == 0 || (isWithoutUs() && Collections.disjoint(unheard, silentNodes())));
    }

    /** The nodes that have neither answered nor failed. */
    Set<Integer> silentNodes() {
        Set<Integer> silent = IntStream.range(0, nodes).boxed().collect(Collectors.toSet());
        silent.removeAll(granted);
        silent.removeAll(grantedTooYoung);
        silent.removeAll(withoutUs);
        failures.forEach(failure -> silent.remove(failure.node()));
        return silent;
    }

    Set<Integer> failedNodes() {
        return failures.stream().map(Failure::node).collect(Collectors.toSet());
    }

    /**
     * A node outside of the majority that granted may have numbered its vote higher, which says nothing. So the token
     * of a grant that may still be in force is looked for on a majority: any other grant since would share a node with
     * that one, and have left a higher number there. A node that failed may show it as well, so it is not known to be
     * over then.
     */
    boolean isTokenCertain() {
        return known == 0 || isUnchanged() || tokens.getOrDefault(known, 0) + silent() + failures.size() < majority();
    }

    /**
     * The nodes that are known to show the claim with another token, and those of which nothing is known because they
     * failed.
     */
    Set<Integer> astray(long token) {
        Set<Integer> astray = failures.stream().map(Failure::node).collect(Collectors.toCollection(HashSet::new));
        astray.addAll(shown.keySet());
        astray.removeAll(showing(token));
        return astray;
    }

    private Set<Integer> showing(long token) {
        return showing(number -> number == token);
    }

    /** The votes that took the proposed token, and so look like a grant. */
    Set<Integer> votesThatLookLikeGrants() {
        return showing(QuorumNode::mayBeAGrants);
    }

    private Set<Integer> showing(LongPredicate isIt) {
        return shown.entrySet().stream()
                .filter(vote -> isIt.test(vote.getValue()))
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private boolean isUnchanged() {
        return known != 0 && agreedToken == known;
    }

    boolean isGranted() {
        return sameServer == null && granted.size() >= majority();
    }

    /** Too few nodes answered for anybody to win or wait. */
    boolean isUnanswered() {
        return sameServer != null || failures.size() >= majority();
    }

    /** So many nodes have restarted of late, or failed, that no claim can win before they count. */
    boolean isTooEarly() {
        return nodes - failures.size() - tooYoung < majority();
    }

    /** Too many nodes say that their vote is another's for us to have a majority now. */
    boolean isWithoutUs() {
        return withoutUs.size() >= majority();
    }

    /**
     * A majority names one owner with one token, which is a grant's. Several owners are a split, in which the lock may
     * be free. One with several tokens may have given one vote back before it got the other,
     * {@code models/Quorum.tla: OneOwnerIsNamed}.
     */
    boolean isTaken() {
        return owners.values().stream().anyMatch(nodes -> nodes >= majority());
    }

    /**
     * What keeps a majority from being of one mind, where the lock is neither this claim's nor known to be another's.
     */
    String whyUndecided() {
        int most = Math.max(granted.size(), rivals.values().stream().reduce(0, Math::max));
        if (most >= majority()) {
            return "a majority of its nodes names one owner and disagrees about that owner's token";
        }
        if (most + failures.size() >= majority()) {
            return (nodes - failures.size()) + " of its " + nodes
                    + " nodes answered and disagree, and the silent ones would decide" + reasons();
        }
        int claims = rivals.size() + (granted.isEmpty() ? 0 : 1);
        return "its nodes gave their votes to " + claims + " claims, of which none has a majority";
    }

    private String reasons() {
        return failures.stream()
                .map(failure -> "; node " + (failure.node() + 1) + ": "
                        + failure.cause().getMessage())
                .collect(Collectors.joining());
    }

    /** Some votes, but not enough: others may have the rest. */
    boolean isSplit() {
        return !isGranted() && !isTooEarly() && !granted.isEmpty();
    }

    /** The nodes that gave us their vote while an older claim waits for it, {@code models/Quorum.tla: OwedToOlder}. */
    Set<Integer> votesOwedToOlder() {
        return olderWait;
    }

    /**
     * The nodes that gave us their vote while a claim with the same place waits for it. One of the two has to give way.
     */
    Set<Integer> votesOfEquals() {
        return equalWait;
    }

    /** The nodes that gave us their vote. */
    Set<Integer> votes() {
        Set<Integer> all = new HashSet<>(granted);
        all.addAll(grantedTooYoung);
        return all;
    }

    /** Whether the node's vote is one of those that were counted, and its token one of those that the highest is of. */
    boolean counts(int node) {
        return granted.contains(node);
    }

    /** A majority of the nodes that were counted says yes. */
    boolean isConfirmed(List<Boolean> answers) {
        return Collections.frequency(answers, true) >= majority();
    }

    /** So many of the nodes that were counted say no that the others are no majority. */
    boolean isRefused(List<Boolean> answers) {
        return granted.size() - Collections.frequency(answers, false) < majority();
    }

    /** The nodes that have given us their vote or may have; the others are sure to have kept it. */
    Set<Integer> possibleVotes() {
        Set<Integer> all = IntStream.range(0, nodes).boxed().collect(Collectors.toSet());
        all.removeAll(withoutUs);
        return all;
    }

    /** The token that a majority of those votes has, or zero, {@code models/Quorum.tla: TokensAgree}. */
    long agreedToken() {
        return agreedToken;
    }

    /** That of the grant before if it is in force, and else the highest number of those votes. */
    long token() {
        return isUnchanged() ? known : QuorumNode.ofAGrant(highestToken);
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
        int answered = nodes - failures.size();
        StringBuilder text = new StringBuilder(answered < majority() ? "only " : "")
                .append(answered + " of " + nodes + " nodes answered and " + majority() + " are needed");
        if (tooYoung > 0) {
            text.append(", but " + tooYoung + " of them started less than " + longestLease.toMillis()
                    + " ms ago and cannot be counted yet");
        }
        IllegalStateException summary = new IllegalStateException(text + reasons());
        failures.forEach(failure -> summary.addSuppressed(failure.cause()));
        return summary;
    }
}
