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
    private final Map<String, ClaimState> standings;

    ForcedReleases(ClaimKeys keys, Turns turns, Map<String, ClaimState> standings) {
        this.keys = keys;
        this.turns = turns;
        this.standings = standings;
    }

    /** There was notice of this one. */
    Mono<Signal> noticed(String claimId) {
        ClaimState standing = standings.get(claimId);
        return standing == null ? Mono.empty() : look(standing);
    }

    /**
     * Notices may have been missed, and of several only the last is there. Of holds that are not renewed no later question would
     * show the end.
     */
    Flux<Signal> missed() {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(standings.values())))
                .filter(standing -> standing.claim.keeping() == Claim.Keeping.ONCE)
                .flatMap(this::look, AT_ONCE);
    }

    private Mono<Signal> look(ClaimState standing) {
        if (!standing.isOwner()) {
            return Mono.empty();
        }
        long revision = standing.revision();
        return keys.look(standing, revision)
                .filter(line -> line.revision() != revision)
                .<Signal>map(line -> {
                    standing.vanished(revision);
                    turns.tellSuccessor(standing);
                    return new Signal.Suspect(standing.claim.id(), LossReason.FORCED);
                })
                .onErrorResume(error -> Mono.empty());
    }
}
