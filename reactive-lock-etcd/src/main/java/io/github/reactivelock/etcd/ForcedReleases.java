package io.github.reactivelock.etcd;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import java.util.List;
import java.util.Map;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Which holds of this client were ended by force, as their keys show. */
final class ForcedReleases {

    private static final int AT_ONCE = 64;

    private final ClaimKeys keys;
    private final Turns turns;
    private final Map<String, ClaimState> states;

    ForcedReleases(ClaimKeys keys, Turns turns, Map<String, ClaimState> states) {
        this.keys = keys;
        this.turns = turns;
        this.states = states;
    }

    /** There was notice of this one. */
    Mono<Signal> noticed(String claimId) {
        ClaimState state = states.get(claimId);
        return state == null ? Mono.empty() : look(state, Mono.just(LossReason.FORCED));
    }

    /**
     * Notices may have been missed, and only the last of several is there. For holds that are not renewed no later
     * question would show the end.
     */
    Flux<Signal> missed() {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(states.values())))
                .filter(state -> state.claim.keeping() == Claim.Keeping.ONCE)
                .flatMap(state -> look(state, whatHappened(state)), AT_ONCE);
    }

    /** By force is what is left, if its lease is there. */
    private static Mono<LossReason> whatHappened(ClaimState state) {
        Lease lease = state.lease();
        return lease == null
                ? Mono.just(LossReason.EXPIRED)
                : lease.isThere()
                        .map(there -> there ? LossReason.FORCED : LossReason.SESSION_LOST)
                        .onErrorReturn(LossReason.EXPIRED);
    }

    private Mono<Signal> look(ClaimState state, Mono<LossReason> reason) {
        if (!state.isOwner()) {
            return Mono.empty();
        }
        long revision = state.revision();
        return keys.look(state, revision)
                .filter(position -> position.revision() != revision)
                .flatMap(position -> reason)
                .<Signal>map(why -> {
                    state.vanished(revision);
                    turns.tellSuccessor(state);
                    return new Signal.Suspect(state.claim.id(), why);
                })
                .onErrorResume(error -> Mono.empty());
    }
}
