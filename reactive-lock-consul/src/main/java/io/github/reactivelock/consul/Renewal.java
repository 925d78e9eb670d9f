package io.github.reactivelock.consul;

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
 * Renews claims by renewing the session, and by a look at each key after that. That the session was renewed is what
 * keeps them; nothing is written.
 */
final class Renewal {

    private record Held(ClaimState state, Entry key) {}

    private Renewal() {}

    static Mono<RenewalResult> of(List<Claim> claims, ClaimRegistry queue, Session session, ClaimKeys keys) {
        return Mono.defer(() -> {
            Map<String, LossReason> lost = new HashMap<>();
            Map<String, List<Held>> bySession = new HashMap<>();
            for (Claim claim : claims) {
                ClaimState state = queue.state(claim.id());
                Entry key = state == null ? null : state.entry();
                if (state != null && key != null && state.isOwner()) {
                    bySession
                            .computeIfAbsent(key.session(), id -> new ArrayList<>())
                            .add(new Held(state, key));
                } else {
                    LossReason known = state == null ? null : state.loss();
                    lost.put(claim.id(), known == null ? LossReason.EXPIRED : known);
                }
            }
            RenewalResult known = new RenewalResult(Set.of(), lost);
            return Flux.fromIterable(bySession.entrySet())
                    .concatMap(each -> renewed(each.getKey(), each.getValue(), queue, session, keys))
                    .reduce(known, RenewalResult::and)
                    // What is known to be lost is no less so because the rest could not be asked about.
                    .onErrorResume(error -> !lost.isEmpty(), error -> Mono.just(known));
        });
    }

    private static Mono<RenewalResult> renewed(
            String id, List<Held> held, ClaimRegistry queue, Session session, ClaimKeys keys) {
        return session.renew(id)
                .flatMap(alive -> alive
                        ? keys.check(held.stream().map(Held::key).toList())
                                .map(checked -> outcome(held, checked, queue))
                        : Mono.fromSupplier(() -> new RenewalResult(Set.of(), ended(held))));
    }

    private static Map<String, LossReason> ended(List<Held> held) {
        Map<String, LossReason> lost = new HashMap<>();
        for (Held each : held) {
            each.state.vanished(each.key, LossReason.SESSION_LOST);
            lost.put(each.state.claim().id(), loss(each.state));
        }
        return lost;
    }

    private static LossReason loss(ClaimState state) {
        LossReason known = state.loss();
        return known == null ? LossReason.EXPIRED : known;
    }

    private static RenewalResult outcome(List<Held> held, List<ClaimKeys.Checked> checked, ClaimRegistry queue) {
        Set<String> renewed = new HashSet<>();
        Map<String, LossReason> lost = new HashMap<>();
        Map<String, Throwable> refused = new HashMap<>();
        for (int i = 0; i < held.size(); i++) {
            ClaimState state = held.get(i).state;
            Entry key = held.get(i).key;
            String id = state.claim().id();
            ClaimKeys.Checked found = checked.get(i);
            if (found instanceof ClaimKeys.Checked.Refused denied) {
                refused.put(id, denied.why());
            } else if (found instanceof ClaimKeys.Checked.Kept && state.isOwner()) {
                queue.keep(state, key);
                renewed.add(id);
            } else {
                if (!state.isRewritten() && state.vanished(key, LossReason.EXPIRED)) {
                    queue.remove(key);
                }
                lost.put(id, loss(state));
            }
        }
        return new RenewalResult(renewed, lost, refused);
    }

    /** Which holds have ended by force. */
    static Flux<Signal> forced(List<ClaimState> owners, ClaimKeys keys) {
        List<Held> held = new ArrayList<>();
        for (ClaimState state : owners) {
            Entry key = state.entry();
            if (key != null) {
                held.add(new Held(state, key));
            }
        }
        return keys.check(held.stream().map(Held::key).toList())
                .flatMapIterable(checked -> ended(held, checked))
                .onErrorResume(error -> Flux.empty()); // the next renewal notices it
    }

    private static List<Signal> ended(List<Held> held, List<ClaimKeys.Checked> checked) {
        List<Signal> ended = new ArrayList<>();
        for (int i = 0; i < held.size(); i++) {
            ClaimState state = held.get(i).state;
            if (checked.get(i) instanceof ClaimKeys.Checked.Gone
                    && !state.isRewritten()
                    && state.vanished(held.get(i).key, LossReason.FORCED)) {
                ended.add(new Signal.Suspect(state.claim().id(), LossReason.FORCED));
            }
        }
        return ended;
    }
}
