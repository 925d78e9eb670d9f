package io.github.reactivelock.quorum;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockEvent;
import io.github.reactivelock.spi.LockInfo;
import io.github.reactivelock.spi.LossReason;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.util.retry.Retry;

/**
 * A lock that a majority of independent stores keeps: the Redlock algorithm
 * (<a href="https://redis.io/docs/latest/develop/clients/patterns/distributed-locks/">description</a>) with direct
 * grants and fencing.
 *
 * <ol>
 *   <li><b>Claim.</b> All nodes are asked at once, each for at most the node timeout. The claim has the lock when a
 *       majority granted it <em>in this round</em>. Each of those leases began after the round did, so the engine's
 *       count from the round's beginning is right for all of them, however unevenly they were granted before.
 *   <li><b>Restarted nodes.</b> A vote carries the node's uptime. A node that came up less than the longest lease ago
 *       may have forgotten a grant and is not counted.
 *   <li><b>Split.</b> A claim that has some votes waits a random moment for more. If none came, it gives its votes back
 *       and stays queued elsewhere; nodes pass a vote on to the next claim they know.
 *   <li><b>Token.</b> The highest of the majority's tokens, written back to a majority before the grant counts. The next
 *       majority shares a node with that one, so its token is higher.
 *   <li><b>Order.</b> A claim brings the time of its first question along, by its own clock, so that all nodes serve
 *       waiting claims in about the same order. Nothing but the order depends on that clock.
 *   <li><b>Waiting.</b> Nodes push their grants. When those pushed make a majority, the claim asks all nodes again.
 *   <li><b>Renewal, release.</b> Both go to all nodes; a renewal holds when a majority confirmed it in this round.
 * </ol>
 *
 * <p>Guarantees: mutual exclusion while clocks run at about the same speed, also when a minority of nodes dies or
 * restarts empty. It is <em>not</em> given when the clock of nodes of a majority jumps ahead; then, as always, the
 * fencing token is the protection at the resource. For the argument see
 * <a href="https://martin.kleppmann.com/2016/02/08/how-to-do-distributed-locking.html">M. Kleppmann</a> and
 * <a href="http://antirez.com/news/101">S. Sanfilippo's answer</a>.
 */
public final class QuorumLockBackend implements LockBackend {

    private static final int SHORTEST_SPLIT_MS = 5;
    private static final int LONGEST_SPLIT_MS = 50;

    private record NodeEvent(int node, LockEvent event) {}

    /** One of the two is there. */
    private record Answer<T>(
            int node, @Nullable T value, @Nullable Throwable failure) {}

    private final List<QuorumNode> nodes;
    private final Duration longestLease;
    private final Duration nodeTimeout;
    private final Map<String, Candidacy> candidacies = new ConcurrentHashMap<>();

    private QuorumLockBackend(List<QuorumNode> nodes, Duration longestLease, Duration nodeTimeout) {
        this.nodes = nodes;
        this.longestLease = longestLease;
        this.nodeTimeout = nodeTimeout;
    }

    /**
     * A quorum of nodes that share nothing. Nodes that started less than 30 seconds ago do not count yet; each node may
     * take 500 milliseconds to answer.
     *
     * @param nodes an odd number, at least three; closed together with the quorum
     * @return the quorum
     */
    public static QuorumLockBackend of(QuorumNode... nodes) {
        Set<QuorumNode> distinct = new HashSet<>(List.of(nodes));
        if (nodes.length < 3 || nodes.length % 2 == 0 || distinct.size() != nodes.length) {
            throw new IllegalArgumentException(
                    "a quorum needs an odd number of different nodes, at least 3, but was given " + nodes.length + ", "
                            + distinct.size() + " of them different");
        }
        return new QuorumLockBackend(List.of(nodes), Duration.ofSeconds(30), Duration.ofMillis(500));
    }

    /**
     * Sets the longest lease that any client of these nodes uses, which is how long a node that restarted is not
     * counted. Claims with a longer lease are refused. Must be the same in all clients.
     *
     * @param longestLease positive
     * @return a changed copy; use one of the two
     */
    public QuorumLockBackend withLongestLease(Duration longestLease) {
        return new QuorumLockBackend(nodes, positive("longestLease", longestLease), nodeTimeout);
    }

    /**
     * Sets how long one node may take to answer before the others decide without it. Keep it well under the client's
     * command timeout.
     *
     * @param nodeTimeout positive
     * @return a changed copy; use one of the two
     */
    public QuorumLockBackend withNodeTimeout(Duration nodeTimeout) {
        return new QuorumLockBackend(nodes, longestLease, positive("nodeTimeout", nodeTimeout));
    }

    private static Duration positive(String name, Duration value) {
        if (value.isNegative() || value.isZero()) {
            throw new IllegalArgumentException(name + " must be positive but is " + value);
        }
        return value;
    }

    // ---- claim

    @Override
    public Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            if (claim.lease().compareTo(longestLease) > 0) {
                return Mono.error(
                        new IllegalArgumentException("the lease of " + claim.lease() + " is longer than " + longestLease
                                + ", the longest the quorum was made for; raise withLongestLease in all clients"));
            }
            Candidacy candidacy = candidacies.computeIfAbsent(claim.id(), id -> new Candidacy(claim.key()));
            return round(claim, candidacy).flatMap(round -> decide(claim, candidacy, round));
        });
    }

    private Mono<Round> round(Claim claim, Candidacy candidacy) {
        Round round = new Round(nodes.size(), longestLease);
        return askAll(node -> node.vote(claim, candidacy.ticket()))
                .doOnNext(answer -> {
                    if (answer.value() != null) {
                        round.add(answer.node(), answer.value());
                    } else if (answer.failure() != null) {
                        round.addFailure(answer.node(), answer.failure());
                    }
                })
                .takeUntil(answer -> round.isDecided())
                .then(Mono.just(round));
    }

    private Mono<ClaimResult> decide(Claim claim, Candidacy candidacy, Round round) {
        if (round.isGranted()) {
            return confirm(claim, candidacy, round);
        }
        if (round.isUnanswered()) {
            return Mono.error(round.failure());
        }
        if (claim.mode() == Claim.Mode.TRY) {
            candidacies.remove(claim.id());
            return onAll(node -> node.release(claim)).thenReturn(new ClaimResult.Busy());
        }
        Mono<Long> givenBack = Mono.just(0L);
        Duration pause = round.untilFree();
        if (round.isSplit()) {
            pause = moment();
            if (candidacy.giveBackNow()) {
                givenBack = Flux.fromIterable(round.votes())
                        .flatMap(i -> bounded(nodes.get(i).release(claim)).onErrorComplete())
                        .count();
            } else {
                candidacy.keep(round.votes());
            }
        } else {
            candidacy.keep(Set.of());
        }
        return givenBack.thenReturn(new ClaimResult.Queued(pause));
    }

    private Mono<ClaimResult> confirm(Claim claim, Candidacy candidacy, Round round) {
        candidacy.keep(Set.of());
        long known = candidacy.fencingToken();
        if (known != 0) {
            return Mono.just(new ClaimResult.Granted(known, claim.lease()));
        }
        long token = round.highestToken();
        return onMajority(node -> node.raise(claim, token).thenReturn(true)).flatMap(confirmed -> {
            if (!confirmed) {
                return Mono.error(new IllegalStateException(
                        "the fencing token could not be written back to a majority of nodes"));
            }
            candidacy.fence(token);
            return Mono.just(new ClaimResult.Granted(token, claim.lease()));
        });
    }

    // ---- renew, release

    @Override
    public Mono<RenewalResult> renew(List<Claim> held) {
        return onAll(node -> node.renew(held)).map(answers -> {
            Set<String> renewed = new HashSet<>();
            Map<String, LossReason> lost = new HashMap<>();
            for (Claim claim : held) {
                String id = claim.id();
                if (isMajority(
                        answers.stream().filter(a -> a.renewed().contains(id)).count())) {
                    renewed.add(id);
                } else {
                    List<LossReason> reasons = answers.stream()
                            .filter(a -> a.lost().containsKey(id))
                            .map(a -> a.lost().get(id))
                            .toList();
                    if (isMajority(reasons.size())) {
                        lost.put(id, reasons.contains(LossReason.TAKEN_OVER) ? LossReason.TAKEN_OVER : reasons.get(0));
                    }
                }
            }
            return new RenewalResult(renewed, lost);
        });
    }

    @Override
    public Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            candidacies.remove(claim.id());
            return onAll(node -> node.release(claim)).flatMap(this::verdict);
        });
    }

    @Override
    public Mono<Boolean> forceRelease(String key) {
        return onAll(node -> node.forceRelease(key)).flatMap(this::verdict);
    }

    private Mono<Boolean> verdict(List<Boolean> answers) {
        if (!isMajority(answers.size())) {
            return Mono.error(new IllegalStateException("only " + answers.size() + " of " + nodes.size()
                    + " nodes answered; the others keep what they have until its lease is over"));
        }
        long owned = answers.stream().filter(yes -> yes).count();
        int silent = nodes.size() - answers.size(); // each may have been part of the majority
        return Mono.just(owned > 0 && isMajority(owned + silent));
    }

    // ---- signals

    @Override
    public Flux<Signal> signals() {
        return Flux.range(0, nodes.size())
                .flatMap(
                        i -> untilCancelled(nodes.get(i).signals()).flatMap(signal -> translate(i, signal)),
                        nodes.size());
    }

    private <T> Flux<T> untilCancelled(Flux<T> pushed) {
        return pushed.retryWhen(Retry.fixedDelay(Long.MAX_VALUE, nodeTimeout));
    }

    /** A node's grant is only a vote: it makes the claim ask all nodes, at once if there are enough votes, else in a moment. */
    private Mono<Signal> translate(int node, Signal signal) {
        if (!(signal instanceof Signal.Grant grant)) {
            return Mono.just(signal);
        }
        Candidacy candidacy = candidacies.get(grant.claimId());
        if (candidacy == null) {
            return Mono.empty();
        }
        Mono<Signal> recheck = Mono.just(new Signal.Recheck(candidacy.key()));
        return isMajority(candidacy.add(node)) ? recheck : recheck.delayElement(moment());
    }

    /** Random, so that of several claims with some votes each one gives way first. */
    private static Duration moment() {
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(SHORTEST_SPLIT_MS, LONGEST_SPLIT_MS));
    }

    // ---- looking

    @Override
    public Mono<LockInfo> inspect(String key) {
        return onAll(node -> node.inspect(key)).flatMap(answers -> {
            if (!isMajority(answers.size())) {
                return Mono.error(new IllegalStateException(
                        "only " + answers.size() + " of " + nodes.size() + " nodes answered"));
            }
            List<LockInfo.Held> held = answers.stream()
                    .filter(LockInfo.Held.class::isInstance)
                    .map(LockInfo.Held.class::cast)
                    .toList();
            return Mono.just(held.stream()
                    .filter(h -> isMajority(held.stream()
                            .filter(o -> o.fencingToken() == h.fencingToken())
                            .count()))
                    .<LockInfo>map(h -> h)
                    .findFirst()
                    .orElse(new LockInfo.Free(key)));
        });
    }

    @Override
    public Flux<LockEvent> events(String key) {
        return Flux.defer(() -> {
            Watch watch = new Watch(key, nodes.size());
            return Flux.range(0, nodes.size())
                    .flatMap(
                            i -> untilCancelled(nodes.get(i).events(key)).map(event -> new NodeEvent(i, event)),
                            nodes.size())
                    .concatMap(told -> Flux.fromIterable(watch.told(told.node(), told.event()))
                            .concatWith(inspect(key).flatMapIterable(watch::seen)));
        });
    }

    @Override
    public Mono<Void> close() {
        return Flux.fromIterable(nodes)
                .flatMapDelayError(LockBackend::close, nodes.size(), 1)
                .then();
    }

    // ---- all nodes

    private boolean isMajority(long count) {
        return count > nodes.size() / 2;
    }

    private <T> Mono<T> bounded(Mono<T> question) {
        return question.timeout(
                nodeTimeout,
                Mono.error(() -> new TimeoutException("no answer within " + nodeTimeout.toMillis() + " ms")));
    }

    /**
     * Asks all nodes, and only then lets their answers be heard. Whoever has heard enough cancels, which stops the
     * listening and not the asking: a node that was left out of a claim, a raise or a release, or that heard of them in
     * another order than the others, would contradict them.
     */
    private <T> Flux<Answer<T>> askAll(Function<QuorumNode, Mono<T>> question) {
        return Flux.defer(() -> {
            Sinks.Many<Answer<T>> answers = Sinks.many().unicast().onBackpressureBuffer();
            AtomicInteger silent = new AtomicInteger(nodes.size());
            Consumer<Answer<T>> hear = answer -> {
                answers.emitNext(answer, Sinks.EmitFailureHandler.busyLooping(nodeTimeout));
                if (silent.decrementAndGet() == 0) {
                    answers.emitComplete(Sinks.EmitFailureHandler.busyLooping(nodeTimeout));
                }
            };
            for (int i = 0; i < nodes.size(); i++) {
                int node = i;
                Disposable unused = bounded(question.apply(nodes.get(node)))
                        .subscribe(
                                value -> hear.accept(new Answer<>(node, value, null)),
                                failure -> hear.accept(new Answer<>(node, null, failure)));
            }
            return answers.asFlux();
        });
    }

    /** What the nodes answered that did answer. */
    private <T> Mono<List<T>> onAll(Function<QuorumNode, Mono<T>> question) {
        return this.<T>askAll(question).mapNotNull(answer -> answer.value()).collectList();
    }

    private Mono<Boolean> onMajority(Function<QuorumNode, Mono<Boolean>> question) {
        return askAll(question)
                .filter(answer -> answer.value() != null)
                .take(nodes.size() / 2 + 1)
                .count()
                .map(this::isMajority);
    }
}
