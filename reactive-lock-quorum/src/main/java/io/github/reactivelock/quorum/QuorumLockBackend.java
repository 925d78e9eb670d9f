package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.Share;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

/**
 * A lock that a majority of independent stores keeps: the Redlock algorithm, with direct grants and fencing.
 *
 * <ol>
 *   <li><b>Claim.</b> All nodes are asked at once, each for at most the node timeout. The claim has the lock when a
 *       majority granted it <em>in this round</em>. Each of those leases began, or began anew, after the round did, so
 *       the engine's count (from the round's beginning, lease less margin) is right for all of them, however unevenly
 *       they were granted before.
 *   <li><b>Restarted nodes.</b> A vote carries the node's run id and uptime. A node that came up less than the longest
 *       lease ago may have forgotten a grant and is not counted. One server under two names is refused.
 *   <li><b>Split.</b> A claim that has some votes but no majority gives back at once those that an older claim waits
 *       for. Others it keeps for a few random moments, which grow; then it gives all back, at silent nodes as well, and
 *       asks anew. Nodes pass a vote on to the oldest claim they know. A claim has one round at a time, giving back
 *       included, or votes could win that are being given back. It asks for a vote that it gave back by another id, so
 *       that a release which a node reads late frees nothing that was given since.
 *   <li><b>Token.</b> A claim proposes one. When a majority has the same, the grant counts after one round trip.
 *       Otherwise the highest of them is written back before it counts, to a majority of those whose lock it still is.
 *       The next such majority shares a node with this one, which has counted on, so its token is higher.
 *   <li><b>Order.</b> A claim brings the time of its first question along, by its own clock, so that all nodes serve
 *       waiting claims in about the same order. Nothing but the order depends on that clock.
 *   <li><b>Waiting.</b> Nodes push their grants. When those pushed make a majority, the claim asks all nodes again.
 *   <li><b>Try.</b> A claim that does not want to wait gets the answer that the lock is taken where a majority names
 *       one owner with one token, or shares the lock. Otherwise votes are split and the lock may be free: it goes on as
 *       a claim that waits, for three times of a node at most, and then fails because it could not tell.
 *   <li><b>Renewal.</b> Goes to all nodes and holds when a majority confirmed it in this round. It does not copy a hold
 *       to a node that forgot it: a hold that lasts while a majority of nodes restarts one after the other is lost,
 *       with the signal.
 *   <li><b>Readers.</b> Need a majority as a writer does, so that one node at least has both before it and admits one
 *       kind. Those that overlap have different tokens: a node refuses to write one back that it shows of another
 *       reader, and the claim takes a higher one.
 *   <li><b>Release.</b> Goes to all nodes, behind the claim on the same connection, so that a node that has not
 *       answered yet carries out both.
 * </ol>
 *
 * <p><b>Guarantees.</b> Mutual exclusion while clocks run at about the same speed (the engine's margin, 1 % and 2 ms by
 * default, is what they may differ by), also when any minority of nodes dies or restarts empty, and nodes of a majority
 * restart one after the other. With a majority gone no client gets the lock, and who has it loses it in time.
 *
 * <p><b>Not given.</b> Mutual exclusion when clocks of nodes <em>jump</em>. A node that jumps ahead ends its leases
 * early and believes that it has been up for longer. A jump of a minority takes nothing away by itself, as long as the
 * holder has the others; jumps or losses that add up to a majority let a second holder in until the first one's next
 * renewal. Neither may nodes forget on their own: no eviction, no {@code FLUSHALL}, no fail-over to a replica behind a
 * node's address. And like every lock with a lease it cannot stop a process that was paused between looking at its hold
 * and acting.
 *
 * <p><b>What the token adds.</b> Redlock as described has none. With it a resource that refuses lower tokens than it
 * has seen is safe in all of these cases, as far as tokens rise. They do as long as no node that forgot has its clock
 * behind the token it forgot (which is a time): of the majority that a token was written back to, a node that has
 * started anew may be all that is part of the next one.
 *
 * <p><b>Sources.</b> The algorithm: "Distributed Locks with Redis", in the Redis documentation. Why leases and clocks
 * do not suffice: "How to do distributed locking" by Martin Kleppmann (2016). The answer to that: "Is Redlock safe?" by
 * Salvatore Sanfilippo, antirez (2016). Waiting for a lease after a restart is in the first; the tokens are what the
 * second asks for.
 */
public final class QuorumLockBackend implements LockBackend {

    private final Voters nodes;
    private final Duration longestLease;
    private final Surroundings surroundings;
    private final Observer observer;
    private final QuorumClaims claims;
    private final Proposals proposals;

    private QuorumLockBackend(Voters nodes, Duration longestLease, Surroundings surroundings) {
        this.surroundings = surroundings;
        this.nodes = nodes;
        this.longestLease = longestLease;
        this.observer = new Observer(nodes, surroundings.timer());
        this.claims = new QuorumClaims(surroundings);
        this.proposals = new Proposals(surroundings);
    }

    /**
     * A quorum of nodes that share nothing. Nodes that started less than 30 seconds ago do not count yet; each node may
     * take 500 milliseconds to answer.
     *
     * @param nodes an odd number, at least three; closed together with the quorum
     * @return the quorum
     */
    public static QuorumLockBackend of(QuorumNode... nodes) {
        return of(Surroundings.REAL, nodes);
    }

    static QuorumLockBackend of(Surroundings surroundings, QuorumNode... nodes) {
        Set<QuorumNode> distinct = new HashSet<>(List.of(nodes));
        if (nodes.length < 3 || nodes.length % 2 == 0 || distinct.size() != nodes.length) {
            throw new IllegalArgumentException(
                    "a quorum needs an odd number of different nodes, at least 3, but was given " + nodes.length + ", "
                            + distinct.size() + " of them different");
        }
        return new QuorumLockBackend(
                new Voters(List.of(nodes), Duration.ofMillis(500), surroundings), Duration.ofSeconds(30), surroundings);
    }

    /**
     * Sets the longest lease that any client of these nodes uses, which is how long a node that restarted is not
     * counted. Claims with a longer lease are refused. Must be the same in all clients.
     *
     * @param longestLease positive
     * @return a changed copy; use one of the two
     */
    public QuorumLockBackend withLongestLease(Duration longestLease) {
        return new QuorumLockBackend(nodes, positive("longestLease", longestLease), surroundings);
    }

    /**
     * Sets how long one node may take to answer before the others decide without it; never more than a quarter of the
     * lease in question. Keep it well under the client's command timeout.
     *
     * @param nodeTimeout positive
     * @return a changed copy; use one of the two
     */
    public QuorumLockBackend withNodeTimeout(Duration nodeTimeout) {
        return new QuorumLockBackend(
                nodes.withTimeout(positive("nodeTimeout", nodeTimeout)), longestLease, surroundings);
    }

    private static Duration positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " must be positive but is " + value);
        }
        return value;
    }

    @Override
    public boolean isReady() {
        return nodes.isMajorityReady();
    }

    @Override
    public String whySilent() {
        return nodes.whySilent();
    }

    @Override
    public boolean supports(Share share) {
        return nodes.whyUnsupported(share) == null;
    }

    @Override
    public String whyUnsupported(Share share) {
        return Objects.requireNonNullElse(nodes.whyUnsupported(share), "");
    }

    @Override
    public Mono<Void> ready() {
        return nodes.majorityReady();
    }

    @Override
    public Mono<Void> probe(String key) {
        return nodes.majorityProbed(key);
    }

    // ---- claim

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            checkLease("a lease", claim.lease());
            QuorumClaim asking = claims.asking(claim);
            return asking.inTurn(new Voting(nodes, longestLease, claim, asking, claims, proposals)
                    .result()
                    .doOnTerminate(() -> claims.forgetIfWithdrawn(claim, asking)));
        });
    }

    private void checkLease(String what, Duration lease) {
        if (lease.compareTo(longestLease) > 0) {
            throw new IllegalArgumentException(what + " of " + lease + ", any lock delay included, is longer than "
                    + longestLease + ", the longest the quorum was made for; raise withLongestLease in all clients");
        }
    }

    // ---- renew, release

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return Mono.defer(() -> {
            long asked = surroundings.nanoClock().getAsLong();
            claims.renewing(held);
            VoteCount tally = new VoteCount(held, nodes.size());
            Duration shortest =
                    held.stream().map(Claim::lease).min(Duration::compareTo).orElse(longestLease);
            return nodes.hastenedFor(shortest)
                    .<RenewalResult>askAll((node, number) -> node.renew(held.stream()
                                    .map(claim -> claims.at(number, claim))
                                    .toList())
                            .map(answer -> claims.counted(number, answer))
                            .doOnNext(answer -> showTokens(number, held, answer)))
                    .mapNotNull(answer -> answer.value())
                    .doOnNext(tally::add)
                    .takeUntil(answer -> tally.isDecided())
                    .collectList()
                    .flatMap(nodes::asMany)
                    .map(answers -> tally.result())
                    .doOnNext(result -> claims.renewed(held, result, asked));
        });
    }

    /**
     * A node that gave its vote late, or did not get the token, has a number of its own for the hold until now.
     */
    private void showTokens(int number, List<Claim> held, RenewalResult answer) {
        for (Claim claim : held) {
            QuorumClaim known = answer.renewed().contains(claim.id()) ? claims.known(claim) : null;
            if (known != null && known.isUntold(number)) {
                Voting voting = new Voting(nodes, longestLease, claim, known, claims, proposals);
                // The hold does not depend on it.
                FireAndForget.run(
                        "showing a quorum's token to a node",
                        nodes.ask(Set.of(number), voting::lookAndShow).then());
            }
        }
    }

    /**
     * Goes to all nodes; those that have the claim are the majority that its hold had, or the hold is over. Fails where
     * silent nodes decide it.
     */
    @Override
    public Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            List<Claim> its = claims.withdraw(claim, nodes.size());
            return nodes.onEnough((node, number) -> node.release(its.get(number)), nodes::isClear)
                    .map(nodes::decision);
        });
    }

    /** As {@link #release}, of which it is one. */
    @Override
    public Mono<Boolean> keep(Claim held, Claim kept) {
        return Mono.defer(() -> {
            checkLease("a minimum", kept.lease());
            List<Claim> its = claims.withdraw(held, nodes.size());
            return nodes.onEnough((node, number) -> node.keep(its.get(number), kept), nodes::isClear)
                    .map(nodes::decision);
        });
    }

    /**
     * Ends the grant at every node that shows its token, as all do of the majority to which it was written back. A node
     * that missed that shows a token of its own and is left alone. Such nodes are fewer than a majority, so the holder
     * has lost the lock; it gives their votes back, or they run out with its lease.
     *
     * <p>The grant was in force if a majority ended it. A node that has yet to carry out a release ends it too, and
     * says nothing about it. Where the holder has lost a node since, and one with a number of its own has just taken
     * its place, fewer than a majority show the token: so a look comes first, and where it left that open it is not
     * known whether the grant was in force. It fails then, and where silent nodes decide it, and all nodes get the
     * command all the same.
     *
     * <p>A node numbers its votes by itself. If it happened to give the same number to another claim, whose token is
     * not written back yet, that claim loses the vote as well: it is not confirmed then, and does not count.
     */
    @Override
    public Mono<Boolean> forceRelease(String key, long fencingToken) {
        return observer.mayBeIn(key, fencingToken)
                .flatMap(mayBeIn -> nodes.onEnough(
                                (node, number) -> node.forceRelease(key, fencingToken), nodes::isClear)
                        .map(answers -> wasInForce(answers, mayBeIn)));
    }

    private boolean wasInForce(List<Boolean> answers, boolean mayBeIn) {
        boolean isEnded = nodes.decision(answers);
        if (!isEnded && mayBeIn) {
            throw new IllegalStateException(
                    "a node showed that token, and a majority its owner with another number, so it"
                            + " is not known whether the grant was in force; the nodes were told to end it");
        }
        return isEnded;
    }

    // ---- signals

    @Override
    public Flux<Signal> signals() {
        return Flux.defer(() -> {
            Sinks.Empty<Void> ended = Sinks.empty();
            return nodes.pushed(QuorumNode::signals)
                    .flatMap(
                            pushed -> claims.pushed(pushed.node(), pushed.value(), nodes.majority()), Integer.MAX_VALUE)
                    .doOnComplete(() -> {
                        ended.tryEmitEmpty();
                    })
                    .mergeWith(claims.late().takeUntilOther(ended.asMono()));
        });
    }

    // ---- the rest

    /** Fails where silent nodes decide it. */
    @Override
    public Mono<LockInfo> inspect(String key) {
        return observer.inspect(key);
    }

    /** Fails where silent nodes decide it. */
    @Override
    public Mono<Boolean> isCurrent(String key, long fencingToken) {
        return observer.isCurrent(key, fencingToken);
    }

    /**
     * Asks the first node that is connected for the keys, and a majority about each: a lock that only other nodes show
     * is missing, and so is one for which {@link #inspect} would fail.
     */
    @Override
    public Mono<LockPage> list(String prefix, String from) {
        return observer.list(prefix, from);
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return observer.events(key);
    }

    @Override
    public Mono<Void> close() {
        return nodes.close();
    }

    @Override
    public String toString() {
        return "quorum of " + nodes;
    }
}
