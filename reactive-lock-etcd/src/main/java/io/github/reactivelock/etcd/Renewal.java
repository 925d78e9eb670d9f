package io.github.reactivelock.etcd;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.LongSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Renews claims by making sure of their leases, each of which is asked about once however many claims it has. */
final class Renewal {

    private Renewal() {}

    static Mono<RenewalResult> of(List<Claim> held, Map<String, ClaimState> states, LongSupplier clock) {
        return Mono.defer(() -> {
            long askedAt = clock.getAsLong();
            Map<Lease, Long> wanted = new HashMap<>();
            for (Claim claim : held) {
                ClaimState state = states.get(claim.id());
                Lease lease = state == null ? null : state.lease();
                if (state != null && lease != null) {
                    state.wanted();
                    wanted.merge(lease, askedAt + claim.lease().toNanos(), Math::max);
                }
            }
            List<Throwable> failures = new ArrayList<>();
            return Flux.fromIterable(wanted.entrySet())
                    .flatMap(entry -> entry.getKey()
                            .cover(entry.getValue())
                            .thenReturn(entry.getKey())
                            .onErrorResume(error -> {
                                failures.add(error);
                                return Mono.empty();
                            }))
                    .collect(HashSet<Lease>::new, Set::add)
                    .map(covered -> outcome(held, states, covered))
                    .flatMap(result -> failures.isEmpty()
                                    || !result.lost().isEmpty()
                                    || !result.renewed().isEmpty()
                            ? Mono.just(result)
                            : Mono.error(failures.get(0)));
        });
    }

    private static RenewalResult outcome(List<Claim> held, Map<String, ClaimState> states, Set<Lease> covered) {
        Set<String> renewed = new HashSet<>();
        Map<String, LossReason> lost = new HashMap<>();
        for (Claim claim : held) {
            ClaimState state = states.get(claim.id());
            Lease lease = state == null ? null : state.lease();
            if (lease != null && lease.hasEnded()) {
                lost.put(claim.id(), LossReason.SESSION_LOST);
            } else if (state == null || !state.isOwner()) {
                lost.put(claim.id(), LossReason.EXPIRED);
            } else if (lease != null && covered.contains(lease)) {
                renewed.add(claim.id());
            }
        }
        return new RenewalResult(renewed, lost);
    }
}
