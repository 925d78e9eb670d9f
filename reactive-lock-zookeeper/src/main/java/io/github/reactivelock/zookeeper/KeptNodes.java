package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Nodes that outlast the holds they were made for, until their time is over. The session keeps them, so this client has
 * to delete them: at their time, and when it is closed. Safe for use from any thread.
 */
final class KeptNodes {

    private static final int AT_ONCE = 64;

    /** A node that the first claim made and the second has. */
    private record Kept(Claim held, Claim kept, Node node) {}

    private final Nodes nodes;
    private final Removals removals;
    /** Those of claims that have not ended. */
    private final Map<String, ClaimState> states;

    /** By the ids of both claims. */
    private final Map<String, Kept> all = new ConcurrentHashMap<>();

    KeptNodes(Nodes nodes, Removals removals, Map<String, ClaimState> states) {
        this.nodes = nodes;
        this.removals = removals;
        this.states = states;
    }

    boolean has(Claim claim) {
        return all.containsKey(claim.id());
    }

    /** The node stays where it is; what is said of the first claim from now on means nothing. */
    Mono<Boolean> keep(Claim held, Claim to) {
        return Mono.defer(() -> {
            ClaimState state = states.get(held.id());
            Node node = state == null ? null : state.node();
            if (state == null || node == null || !state.isOwner()) {
                return Mono.just(has(to));
            }
            return nodes.check(List.of(node.path())).map(checked -> {
                boolean keeps = checked.keeps(0, node);
                if (keeps && states.remove(held.id(), state)) {
                    boolean owner = state.leave();
                    if (owner) {
                        add(held, to, node);
                    }
                    return owner;
                }
                return keeps;
            });
        });
    }

    private void add(Claim held, Claim kept, Node node) {
        Kept added = new Kept(held, kept, node);
        all.put(held.id(), added);
        all.put(kept.id(), added);
        Mono<?> end = Mono.delay(kept.lease(), DriverThreads.timer()).flatMap(now -> end(all.get(kept.id())));
        FireAndForget.run("ending a minimum hold", end);
    }

    /** Only the second claim ends it, what is still said of the first does not; whether it was there until now. */
    Mono<Boolean> release(Claim claim) {
        Kept known = all.get(claim.id());
        return known != null && known.kept.id().equals(claim.id()) ? end(known) : Mono.just(false);
    }

    private Mono<Boolean> end(@Nullable Kept known) {
        if (known == null || !all.remove(known.kept.id(), known)) {
            return Mono.just(false);
        }
        all.remove(known.held.id(), known);
        return removals.finishing(known.held, nodes.delete(known.node.path()));
    }

    Mono<Void> close() {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(all.values())))
                .flatMap(known -> end(known).onErrorComplete(), AT_ONCE)
                .then();
    }
}
