package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Renews claims by looking at their nodes, all in one burst behind one question to the leader. That the session asked
 * is what keeps them; nothing is written.
 */
final class Renewal {

    private record Held(ClaimState state, Node node) {}

    private Renewal() {}

    static Mono<RenewalResult> of(List<Claim> claims, ClaimRegistry queue, Nodes nodes) {
        return Mono.defer(() -> {
            Map<String, LossReason> lost = new HashMap<>();
            List<Held> held = new ArrayList<>();
            for (Claim claim : claims) {
                ClaimState state = queue.state(claim.id());
                Node node = state == null ? null : state.entry();
                if (state != null && node != null && state.isOwner()) {
                    held.add(new Held(state, node));
                } else {
                    LossReason known = state == null ? null : state.loss();
                    lost.put(claim.id(), known == null ? LossReason.EXPIRED : known);
                }
            }
            if (held.isEmpty()) {
                return Mono.just(new RenewalResult(Set.of(), lost));
            }
            return nodes.check(held.stream().map(each -> each.node.path()).toList())
                    .map(checked -> outcome(held, checked, lost, queue))
                    // What is known to be lost is no less so because the rest could not be asked about.
                    .onErrorResume(error -> !lost.isEmpty(), error -> Mono.just(new RenewalResult(Set.of(), lost)));
        });
    }

    /** Which holds have ended by force. */
    static Flux<Signal> forced(List<ClaimState> owners, Nodes nodes) {
        List<Held> held = new ArrayList<>();
        for (ClaimState state : owners) {
            Node node = state.entry();
            if (node != null) {
                held.add(new Held(state, node));
            }
        }
        return nodes.check(held.stream().map(each -> each.node.path()).toList())
                .flatMapIterable(checked -> ended(held, checked))
                .onErrorResume(error -> Flux.empty()); // the connection broke; what was put last is read again then
    }

    private static List<Signal> ended(List<Held> held, Nodes.Checked checked) {
        List<Signal> ended = new ArrayList<>();
        for (int i = 0; i < held.size(); i++) {
            ClaimState state = held.get(i).state;
            if (!checked.keeps(i, held.get(i).node) && state.vanished(held.get(i).node, LossReason.FORCED)) {
                ended.add(new Signal.Suspect(state.claim().id(), LossReason.FORCED));
            }
        }
        return ended;
    }

    private static RenewalResult outcome(
            List<Held> held, Nodes.Checked checked, Map<String, LossReason> lost, ClaimRegistry queue) {
        Set<String> renewed = new HashSet<>();
        for (int i = 0; i < held.size(); i++) {
            ClaimState state = held.get(i).state;
            Node node = held.get(i).node;
            if (checked.keeps(i, node) && state.isOwner()) {
                queue.keep(state, node);
                renewed.add(state.claim().id());
            } else {
                state.vanished(node, checked.loss(node));
                LossReason known = state.loss();
                lost.put(state.claim().id(), known == null ? LossReason.EXPIRED : known);
            }
        }
        return new RenewalResult(renewed, lost);
    }
}
