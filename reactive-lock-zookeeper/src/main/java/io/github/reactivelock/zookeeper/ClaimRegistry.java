package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.queue.Content;
import io.github.reactivelock.spi.queue.Entered;
import io.github.reactivelock.spi.queue.Expiries;
import io.github.reactivelock.spi.queue.Followers;
import io.github.reactivelock.spi.queue.KeptClaims;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.spi.queue.QueuePosition;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.UnansweredReleases;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.apache.curator.framework.state.ConnectionState;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The claims of this client: entered into their queues, followed until they are first, and ended. */
final class ClaimRegistry {

    private static final int AT_ONCE = 64;
    private static final int OF_ONE_QUESTION = 500;

    private final Connection connection;
    private final Nodes nodes;
    private final KeyLayout names;
    private final Supplier<String> session;
    final Removals removals;
    private final Expiries<SequenceNode, Node> expiries;
    private final Followers<SequenceNode, Node> followers;
    final KeptClaims<SequenceNode, Node> kept;
    private final Map<String, ClaimState> states = new ConcurrentHashMap<>();
    private final UnansweredReleases leaving = new UnansweredReleases();
    /** Ends that are under way, so that none is asked for beside the first. */
    private final Map<String, Mono<Boolean>> ending = new ConcurrentHashMap<>();

    ClaimRegistry(
            Connection connection,
            Nodes nodes,
            Watches watches,
            KeyLayout names,
            Supplier<String> session,
            SignalSink pushes) {
        this.connection = connection;
        this.nodes = nodes;
        this.names = names;
        this.session = session;
        this.removals = new Removals(connection, nodes);
        StoredEntries entries = new StoredEntries(connection, nodes, watches, names, removals);
        this.kept = new KeptClaims<>(entries, states);
        this.expiries = new Expiries<>(entries, pushes::push);
        this.followers = new Followers<>(entries, expiries, pushes::push);
        connection.onChange(this::changed);
    }

    @Nullable
    ClaimState state(String claimId) {
        return states.get(claimId);
    }

    /** The lease of a hold starts anew. */
    void keep(ClaimState state, Node node) {
        expiries.begin(state, node);
    }

    /**
     * A question that has left is answered in the order of the session's, so it is as good as queued with the rest.
     */
    boolean holdsBack(Claim claim) {
        return connection.isCrowded() && states.containsKey(claim.id());
    }

    Mono<ClaimResult> claim(Claim claim) {
        return Mono.defer(() -> {
            ClaimState state = states.computeIfAbsent(claim.id(), id -> new ClaimState(claim));
            state.claimed();
            state.asked();
            Node node = state.entry();
            if (node != null) {
                return look(state).doOnError(error -> expiries.beginWait(state, node));
            }
            return enter(state, true);
        });
    }

    /**
     * Looks first: no node is made at a busy lock, or where another claim comes before it. A server may still see a
     * lock that was given back through another, so the answer that the lock is busy is read after a write. An owner
     * that can be called back, and nothing behind it, is as good as none.
     */
    private Mono<ClaimResult> enterIfFree(ClaimState state, boolean mayRepeat) {
        Claim claim = state.claim();
        return nodes.counted(claim.key())
                .filter(seen -> seen.queue().admitsTry(claim.share()))
                .switchIfEmpty(Mono.defer(() -> nodes.latestCounted(claim.key())))
                .flatMap(seen -> {
                    if (seen.queue().has(claim.id())) {
                        state.doubted();
                        return enter(state, mayRepeat);
                    }
                    return stillAdmitsTry(claim, seen.queue())
                            .flatMap(admits -> admits
                                    ? enter(state, mayRepeat, nodes.createIfNext(claim, content(claim), seen.next()))
                                    : release(claim).thenReturn(new ClaimResult.Busy()));
                });
    }

    /** The name of an owner's node does not show that its hold is over, and the lock only stays taken. */
    private Mono<Boolean> stillAdmitsTry(Claim claim, PlaceQueue<SequenceNode> queue) {
        return queue.admits(claim.share()) || !queue.admitsTry(claim.share())
                ? Mono.just(queue.admits(claim.share()))
                : nodes.read(names.claim(claim.key(), queue.places().get(0).name()))
                        .map(Nodes.Read::isRecallable)
                        .defaultIfEmpty(true);
    }

    private Content content(Claim claim) {
        return Content.of(session.get(), claim);
    }

    private Mono<ClaimResult> enter(ClaimState state, boolean mayRepeat) {
        if (state.isUncertain()) {
            return settle(state, mayRepeat);
        }
        Claim claim = state.claim();
        return claim.mode() == Claim.Mode.TRY && !state.hasMissedOften()
                ? enterIfFree(state, mayRepeat)
                : enter(state, mayRepeat, nodes.create(claim, content(claim), state::mayEnter));
    }

    private Mono<ClaimResult> enter(ClaimState state, boolean mayRepeat, Mono<Entered<SequenceNode, Node>> creation) {
        Mono<Entered<SequenceNode, Node>> entering = state.enter(() -> create(state, creation));
        if (entering == null) {
            return Mono.error(state.ended());
        }
        return connection
                .within(entering)
                .flatMap(entered -> seenBehind(entered, state.claim())
                        .flatMap(queue -> placed(state, entered.own(), queue, mayRepeat)))
                .switchIfEmpty(Mono.defer(() -> enter(state, mayRepeat)));
    }

    /** Where the connection is there again just then, Curator sends a look before the creation that it belongs to. */
    private Mono<PlaceQueue<SequenceNode>> seenBehind(Entered<SequenceNode, Node> entered, Claim claim) {
        return entered.queue().position(claim.id()).isOf(entered.own())
                ? Mono.just(entered.queue())
                : nodes.latestQueue(claim.key());
    }

    /** Cached, so that an answer has its effect however late it comes. */
    private Mono<Entered<SequenceNode, Node>> create(ClaimState state, Mono<Entered<SequenceNode, Node>> creation) {
        Claim claim = state.claim();
        return creation.switchIfEmpty(Mono.fromRunnable(state::notMade))
                .doOnError(error -> {
                    state.failed();
                    if (states.get(claim.id()) != state) {
                        removals.later(claim);
                    }
                })
                .flatMap(entered -> state.seen(entered.own())
                        ? Mono.just(entered)
                        : removals.remove(claim).then(Mono.error(() -> state.ended())))
                .cache();
    }

    /** An answer was lost or the session changed: a node of this session is adopted, any other is deleted. */
    private Mono<ClaimResult> settle(ClaimState state, boolean mayRepeat) {
        Claim claim = state.claim();
        return nodes.latestQueue(claim.key()).flatMap(queue -> {
            SequenceNode own = queue.position(claim.id()).own();
            if (own == null) {
                state.settled(null);
                return enter(state, mayRepeat);
            }
            String path = names.claim(claim.key(), own.name());
            return nodes.checkOne(path).flatMap(checked -> {
                Node node = checked.found().get(0);
                if (node.session() == checked.session() && state.seen(node)) {
                    return placed(state, node, queue, mayRepeat);
                }
                return mayRepeat
                        ? nodes.delete(path).then(Mono.defer(() -> enter(state, false)))
                        : Mono.error(state.ended());
            });
        });
    }

    /** Asked again: where does the claim stand now? */
    private Mono<ClaimResult> look(ClaimState state) {
        Node node = state.entry();
        if (node == null) {
            return enter(state, true);
        }
        return nodes.checkOne(node.path()).flatMap(checked -> {
            if (!checked.keeps(0, node)) {
                state.vanished(node, checked.loss(node));
                state.claimed();
                return enter(state, true);
            }
            if (state.isOwner()) {
                return granted(state, node);
            }
            String followed = state.followedPlace();
            return followed != null && !SequenceNode.isRecallable(followed)
                    ? Mono.just(queued(state, node, null))
                    : nodes.queue(state.claim().key()).flatMap(queue -> placed(state, node, queue, true));
        });
    }

    private Mono<ClaimResult> placed(ClaimState state, Node node, PlaceQueue<SequenceNode> queue, boolean mayRepeat) {
        QueuePosition<SequenceNode> position = queue.position(state.claim().id());
        if (!position.isOf(node)) {
            state.vanished(node, LossReason.EXPIRED);
            return mayRepeat ? enter(state, false) : Mono.error(state.ended());
        }
        Mono<Void> tidied = position.surplus().isEmpty() ? Mono.empty() : tidy(state, node, position.surplus());
        if (position.isIn()) {
            return tidied.then(Mono.defer(() -> granted(state, node)));
        }
        Optional<SequenceNode> calledBack = queue.calledBackFrom(position);
        if (state.claim().mode() == Claim.Mode.TRY && calledBack.isEmpty()) {
            return tidied.then(release(state.claim())).thenReturn(new ClaimResult.Busy());
        }
        calledBack.ifPresent(owner ->
                FireAndForget.run("calling a lock back", recall(state.claim().key(), owner)));
        followers.follow(state, node, position);
        return tidied.then(Mono.fromSupplier(() -> queued(state, node, position.behind())));
    }

    private ClaimResult queued(ClaimState state, Node node, @Nullable String behind) {
        expiries.beginWait(state, node);
        return new ClaimResult.Queued(state.claim().lease(), behind, node.newestTokenBefore());
    }

    /** A claim that ends before this succeeded looks for all of its nodes. */
    private Mono<Void> tidy(ClaimState state, Node node, List<SequenceNode> surplus) {
        state.doubted();
        return nodes.deleteAll(state.claim().key(), surplus).doOnSuccess(done -> state.settled(node));
    }

    private Mono<ClaimResult> granted(ClaimState state, Node node) {
        if (!followers.own(state, node)) {
            return Mono.error(state.ended());
        }
        Duration longest = connection.reliable();
        Duration asked = state.claim().lease();
        return Mono.just(new ClaimResult.Granted(node.token(), asked.compareTo(longest) < 0 ? asked : longest));
    }

    private Mono<Void> recall(String key, SequenceNode owner) {
        return nodes.recall(
                names.claim(key, owner.name()), names.notice(owner.recalls()), SignalSink.recall(owner.claimId()));
    }

    Mono<Void> recall(String key) {
        return followers.recallable(key).flatMap(owner -> recall(key, owner));
    }

    /** There was notice of a forced release, or of several things of which the last took the place of the others. */
    Flux<Signal> noticed() {
        return Flux.concat(forced(), followers.calledBack(states.values(), AT_ONCE));
    }

    /** The nodes of all holds show it. */
    private Flux<Signal> forced() {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(states.values())))
                .filter(ClaimState::isOwner)
                .buffer(OF_ONE_QUESTION)
                .concatMap(owners -> Renewal.forced(owners, nodes));
    }

    private void changed(ConnectionState state) {
        if (state == ConnectionState.LOST) {
            FireAndForget.run(
                    "looking which claims went with a session",
                    connection.session().doOnNext(this::sessionIsNow));
        } else if (state.isConnected()) {
            removals.tidyUp();
        }
    }

    private void sessionIsNow(long present) {
        for (ClaimState state : states.values()) {
            Node node = state.entry();
            if (node != null && node.session() != present) {
                expiries.sessionEnded(state, node);
            }
        }
    }

    Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> ending.computeIfAbsent(
                claim.id(),
                id -> released(claim).doOnTerminate(() -> ending.remove(id)).cache()));
    }

    private Mono<Boolean> released(Claim claim) {
        return Mono.defer(() -> {
            ClaimState state = states.remove(claim.id());
            if (state == null) {
                return kept.has(claim) ? kept.release(claim) : leaving.again(claim, removals.remove(claim));
            }
            int interruptions = connection.interruptions();
            boolean owner = state.leave();
            Mono<Entered<SequenceNode, Node>> entering = state.entering();
            Node node = state.entry();
            if (entering != null) {
                return removals.finishing(
                        claim,
                        connection
                                .within(entering.hasElement().onErrorReturn(true))
                                .flatMap(mayBeThere -> mayBeThere ? removals.remove(claim) : Mono.just(false)));
            }
            if (node == null || state.isUncertain()) {
                return state.isUncertain() ? removals.remove(claim) : Mono.just(false);
            }
            Runnable unanswered = owner ? () -> leaving.add(claim) : () -> {};
            return removals.finishing(claim, nodes.delete(node.path()))
                    .doOnError(error -> unanswered.run())
                    .doOnCancel(unanswered)
                    // Curator may have repeated a deletion whose answer was lost.
                    .map(deleted -> owner && (deleted || connection.interruptions() != interruptions));
        });
    }

    /** Ends all claims, now or later. */
    Mono<Void> close() {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(states.values())))
                .flatMap(state -> release(state.claim()).onErrorComplete(), AT_ONCE)
                .then(Mono.defer(kept::close))
                .then(Mono.defer(removals::removeUnfinished));
    }
}
