package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.QuorumNode;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collections;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * What is known of a claim between its rounds: which nodes gave it their vote since, and its token once it is fixed.
 * Guarded by its monitor; nothing slow happens inside.
 *
 * <pre>
 * state     has              leaves on
 * resting   nothing          a question -> asking
 * asking    one round        another question -> crowded; the round's end, with all it gave back -> resting
 * crowded   one round, next  further questions share the next; the round's end -> asking, with the next
 * </pre>
 *
 * <p>The engine asks again when it is out of patience, though the round before may be under way. An answer is given
 * only to questions that were asked before its round began, because the engine counts the lease from its question.
 */
final class QuorumClaim {

    private static final Instant EPOCH = Instant.parse("2020-01-01T00:00:00Z");
    private static final int SHORTEST_MOMENT_MS = 5;
    private static final int LONGEST_FIRST_MOMENT_MS = 50;
    private static final int MOST_DOUBLINGS = 5;
    private static final int PATIENCE = 4;
    private static final int FEW_TOKENS = 16;

    private final Surroundings surroundings;
    private final long ticket;
    private final NodeIds ids;
    private final Set<Integer> votes = new HashSet<>();
    private Set<Integer> unheard = Set.of();
    /** The nodes that voted since the last round began, and whether it is under way. */
    private final Set<Integer> heard = new HashSet<>();

    private boolean listening;
    private final Set<Integer> failed = new HashSet<>();
    /** The number of each node: the one that its last vote showed, or the one that we sent it. */
    private final Map<Integer, Long> shown = new HashMap<>();

    private int fruitless;
    private boolean won;
    /** Until then the engine may rely on what was won: for a lease after the grant, or the last renewal asked for. */
    private long reliedUpon;
    /** Until then a majority of nodes is sure to keep it, unless it is taken by force. */
    private long inForceUntil;

    private long fencingToken;
    private boolean withdrawn;
    private boolean asking;
    /** Ends a rest; there if the claim tries, and its votes were split. */
    private Sinks.@Nullable Empty<Void> enough;
    /** Answers those who asked since the round that is under way began. */
    private Sinks.@Nullable One<ClaimResult> next;

    QuorumClaim(Surroundings surroundings, long ticket) {
        this(surroundings, ticket, new NodeIds());
    }

    QuorumClaim(Surroundings surroundings, long ticket, NodeIds ids) {
        this.surroundings = surroundings;
        this.ticket = ticket;
        this.ids = ids;
    }

    /** Nanoseconds, to be compared by difference. */
    long now() {
        return surroundings.nanoClock().getAsLong();
    }

    NodeIds ids() {
        return ids;
    }

    /** The time of the wall clock, in microseconds; a clock that was never set may be before the first. */
    static long ticket(Surroundings surroundings) {
        return Math.max(
                1, ChronoUnit.MICROS.between(EPOCH, surroundings.wallClock().get()));
    }

    /**
     * Runs the round, or the next one if one is under way: {@code models/Quorum.tla: OneRoundAtATime}. Cancelling stops
     * the waiting for it and not the round.
     */
    Mono<ClaimResult> inTurn(Mono<ClaimResult> round) {
        return Mono.defer(() -> {
            Sinks.One<ClaimResult> answer;
            boolean rests;
            synchronized (this) {
                rests = !asking;
                asking = true;
                answer = next == null ? Sinks.one() : next;
                next = rests ? null : answer;
            }
            if (rests) {
                begin(round, answer);
            }
            return answer.asMono();
        });
    }

    private void begin(Mono<ClaimResult> round, Sinks.One<ClaimResult> answer) {
        try {
            round.subscribe(
                    result -> ended(round, () -> answer.tryEmitValue(result)),
                    failure -> ended(round, () -> answer.tryEmitError(failure)));
        } catch (Throwable e) { // a fatal one, which is not signalled: the claim would never be asked about again
            ended(round, () -> answer.tryEmitError(e));
        }
    }

    private void ended(Mono<ClaimResult> round, Runnable tell) {
        tell.run();
        Sinks.One<ClaimResult> following;
        synchronized (this) {
            following = next;
            next = null;
            asking = following != null;
        }
        if (following != null) {
            begin(round, following);
        }
    }

    /** No question follows: it was released, or it only tried. */
    synchronized void withdraw() {
        withdrawn = true;
    }

    synchronized boolean isWithdrawn() {
        return withdrawn;
    }

    /** Orders it among others that wait; older ones come first. */
    long ticket() {
        return ticket;
    }

    /** The highest token that was written back to a majority for it, or zero. */
    synchronized long fencingToken() {
        return fencingToken;
    }

    /** Grants of this claim up to this token are over; zero if the last one may not be. */
    synchronized long tokenOfThePast() {
        return isWaiting() ? fencingToken : 0;
    }

    /** The token of a grant that may still be in force, or zero. */
    synchronized long tokenInForce() {
        return isWaiting() ? 0 : fencingToken;
    }

    synchronized boolean isWaiting() {
        return !won || reliedUpon - surroundings.nanoClock().getAsLong() <= 0;
    }

    /**
     * Ends the candidacy with a grant.
     *
     * @param asked when its round began, by {@link #now}
     */
    synchronized void win(long token, Duration lease, long asked) {
        fencingToken = token;
        won = true;
        reliedUpon = now() + lease.toNanos();
        isInForce(lease, asked);
        fruitless = 0;
        unheard = Set.of();
        votes.clear();
    }

    /** A node's lease began at that time or later. Its clock may run a tenth faster than ours. */
    private void isInForce(Duration lease, long since) {
        inForceUntil = since + lease.toNanos() / 10 * 9;
    }

    /** Whether a node is not known to show the token of a grant that is in force. */
    synchronized boolean isUntold(int node) {
        Long number = shown.get(node);
        return isInForce() && (number == null || number != fencingToken);
    }

    private boolean isInForce() {
        return won && !withdrawn && inForceUntil - now() > 0;
    }

    /** The node tells the number of the vote that it has from us. */
    synchronized void tells(int node, long number) {
        shown.put(node, number);
    }

    /**
     * What to write to a node that shows another number; null where there is nothing to write. The node's own number,
     * if it is higher, makes way only while the grant is in force.
     */
    synchronized @Nullable Untold untold(int node) {
        if (!isUntold(node)) {
            return null;
        }
        long number = shown.getOrDefault(node, 0L);
        return new Untold(fencingToken, QuorumNode.mayBeAGrants(number) ? 0 : number);
    }

    /** A token, and the node's own number that makes way for it, or zero. */
    record Untold(long token, long votesNumber) {}

    /** The engine asks for a renewal, which it does only of what it holds. */
    synchronized void renewing(Duration lease) {
        reliedUpon = now() + lease.toNanos();
    }

    /** A majority renewed it. */
    synchronized void renewed(Duration lease, long asked) {
        isInForce(lease, asked);
    }

    /** A round found a majority of nodes that do not give us their vote. */
    synchronized void lose() {
        won = false;
    }

    /** The nodes without which the last round ended. */
    synchronized Set<Integer> unheard() {
        return unheard;
    }

    synchronized void listen() {
        heard.clear();
        listening = true;
    }

    /** A node gave its vote; whether no round is under way that may count it, though the claim waits for one. */
    synchronized boolean isHeardLate(int node) {
        heard.add(node);
        return !listening && !withdrawn && isWaiting();
    }

    /** A round without a grant ended, and did not wait for these nodes; whether one of them has voted meanwhile. */
    synchronized boolean leftOut(Set<Integer> silent) {
        unheard = silent;
        listening = false;
        return !Collections.disjoint(heard, silent);
    }

    /** The nodes that failed at the last answer to a claim that tries. */
    synchronized Set<Integer> failed() {
        return Set.copyOf(failed);
    }

    synchronized void failed(Set<Integer> nodes, Set<Integer> unheardOf) {
        failed.retainAll(unheardOf);
        failed.addAll(nodes);
    }

    /** A round ended without votes, unless a node that was left out gave its own. */
    synchronized void waitOn() {
        if (unheard.isEmpty()) {
            fruitless = 0;
        }
        votes.clear();
    }

    /** A round ended with too few votes, and no older claim waits for them. They are kept for a while. */
    synchronized boolean isOutOfPatience(Set<Integer> now) {
        votes.clear();
        votes.addAll(now);
        return ++fruitless % PATIENCE == 0;
    }

    /**
     * Whether votes may be given back, not while the engine may rely on them: {@code models/Quorum.tla: MayGiveBack}.
     */
    synchronized boolean mayGiveBack() {
        if (!isWaiting()) {
            return false;
        }
        won = false;
        votes.clear();
        return true;
    }

    /** Counts a vote that was pushed; how many there are now. */
    synchronized int add(int node) {
        votes.add(node);
        return votes.size();
    }

    /** A moment between two rounds of a claim that tries, until {@link #endRest}. */
    Mono<Void> rest() {
        Sinks.Empty<Void> end = Sinks.empty();
        synchronized (this) {
            enough = end;
        }
        return Mono.firstWithSignal(
                end.asMono(), Mono.delay(moment(), surroundings.timer()).then());
    }

    /** Whether it tries on, and so asks by itself. */
    synchronized boolean isTryingOn() {
        return enough != null;
    }

    /** Pushed votes are enough for a round. */
    synchronized void endRest() {
        if (enough != null) {
            enough.tryEmitEmpty();
        }
    }

    /** A token in place of one that is another's; each time further off, because others look for one too. */
    long above(long token, int refused) {
        return QuorumNode.ofAGrant(
                token + FencingTokens.of(surroundings.chance().applyAsInt(1, FEW_TOKENS << refused)));
    }

    /** In every other round: two claims with the same place that always did would only swap their votes. */
    boolean givesWayToEquals() {
        return surroundings.chance().applyAsInt(0, 2) == 1;
    }

    /** A random time, so that of several claims with some votes each one gives way first. */
    Duration moment() {
        return moment(LONGEST_FIRST_MOMENT_MS);
    }

    /**
     * A moment that grows with each fruitless one: another claim may have the lock for long, on all nodes but a few.
     */
    synchronized Duration growingMoment() {
        return moment(LONGEST_FIRST_MOMENT_MS << Math.min(fruitless, MOST_DOUBLINGS));
    }

    private Duration moment(int longest) {
        return Duration.ofMillis(surroundings.chance().applyAsInt(SHORTEST_MOMENT_MS, longest));
    }
}
