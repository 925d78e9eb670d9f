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
        return standing == null ? Mono.empty() : look(standing, Mono.just(LossReason.FORCED));
    }

    /**
     * Notices may have been missed, and only the last of several is there. For holds that are not renewed no later
     * question would show the end.
     */
    Flux<Signal> missed() {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(standings.values())))
                .filter(standing -> standing.claim.keeping() == Claim.Keeping.ONCE)
                .flatMap(standing -> look(standing, whatHappened(standing)), AT_ONCE);
    }

    /** By force is what is left, if its lease is there. */
    private static Mono<LossReason> whatHappened(ClaimState standing) {
        Lease lease = standing.lease();
        return lease == null
                ? Mono.just(LossReason.EXPIRED)
                : lease.isThere()
                        .map(there -> there ? LossReason.FORCED : LossReason.SESSION_LOST)
                        .onErrorReturn(LossReason.EXPIRED);
    }

    private Mono<Signal> look(ClaimState standing, Mono<LossReason> reason) {
        if (!standing.isOwner()) {
            return Mono.empty();
        }
        long revision = standing.revision();
        return keys.look(standing, revision)
                .filter(line -> line.revision() != revision)
                .flatMap(line -> reason)
                .<Signal>map(why -> {
                    standing.vanished(revision);
                    turns.tellSuccessor(standing);
                    return new Signal.Suspect(standing.claim.id(), why);
                })
                .onErrorResume(error -> Mono.empty());
    }
}
