package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Follows claims that wait until they are in. One for the whole, or behind one for the whole, watches the one node that
 * keeps it out. One that waits for units looks at the line whenever that changes, with one watch for all of them on a
 * lock.
 */
final class Followers {

    private static final Duration PAUSE_AFTER_A_BROKEN_WATCH = Duration.ofMillis(100);

    private final Nodes nodes;
    private final Watches watches;
    private final KeyLayout names;
    private final SignalSink pushes;
    private final Connection connection;
    private final Expiries expiries;
    private final Map<String, Flux<Line>> lines = new ConcurrentHashMap<>();

    Followers(
            Connection connection,
            Nodes nodes,
            Watches watches,
            KeyLayout names,
            SignalSink pushes,
            Expiries expiries) {
        this.connection = connection;
        this.nodes = nodes;
        this.watches = watches;
        this.names = names;
        this.pushes = pushes;
        this.expiries = expiries;
    }

    /** The claim is in; false if that is no news of ours. */
    boolean own(ClaimState state, Node node) {
        boolean owns = state.own(node);
        if (owns) {
            expiries.begin(state, node);
        }
        return owns;
    }

    void follow(ClaimState state, Node node, QueuePosition position) {
        SequenceNode obstacle = position.obstacle();
        Disposable.Swap watch = state.follow(obstacle == null ? ClaimState.THE_LINE : obstacle.name());
        if (watch == null) {
            return;
        }
        String key = state.claim.key();
        Mono<Line> moved = obstacle == null
                ? line(key).filter(line -> isIn(state, node, line)).next()
                : watches.untilChanged(names.claim(key, obstacle.name())).then(Mono.empty());
        Mono<Void> news = moved.onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                        .then(Mono.empty()))
                .doOnNext(line -> state.followed(watch))
                .switchIfEmpty(Mono.defer(() -> {
                    state.followed(watch);
                    return nodes.line(key);
                }))
                .flatMap(line -> moved(state, node, position(state, line)))
                .onErrorResume(error -> Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer())
                        .thenReturn(new Signal.RecheckClaim(state.claim.id())))
                .doOnNext(pushes::push)
                .then();
        watch.update(FireAndForget.cancellable("waiting for a lock in ZooKeeper", news));
    }

    /**
     * The line now and after each change. A later subscriber gets the latest line first, perhaps from before its own
     * claim, but its own claim is a change too.
     */
    private Flux<Line> line(String key) {
        return lines.computeIfAbsent(
                key,
                absent -> watches.names(names.lock(key))
                        .map(Line::of)
                        .doFinally(signal -> lines.remove(key))
                        .replay(1)
                        .refCount());
    }

    /** A reading that is older than the node may show one that was given up. */
    private static boolean isIn(ClaimState state, Node node, Line line) {
        QueuePosition position = position(state, line);
        return position.isIn() && position.isOf(node);
    }

    private static QueuePosition position(ClaimState state, Line line) {
        return QueuePosition.of(state.claim.id(), line);
    }

    private Mono<Signal> moved(ClaimState state, Node node, QueuePosition position) {
        if (position.own() == null) {
            return state.vanished(node, LossReason.EXPIRED)
                    ? Mono.just(new Signal.RecheckClaim(state.claim.id()))
                    : Mono.empty();
        }
        if (!position.isOf(node)) {
            return Mono.just(new Signal.RecheckClaim(state.claim.id()));
        }
        if (!position.isIn()) {
            follow(state, node, position);
            return Mono.empty();
        }
        return own(state, node)
                ? Mono.just(new Signal.Grant(state.claim.id(), node.token(), connection.reliable()))
                : Mono.empty();
    }
}
