package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.LossReason;
import io.github.reactivelock.spi.RenewalResult;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Renews many holds by one statement for each lease in use, and looks closer only if some of them are gone. */
final class Renewal {

    private final Database database;

    Renewal(Database database) {
        this.database = database;
    }

    Mono<RenewalResult> renew(List<Claim> held) {
        Map<Duration, List<Claim>> byLease = held.stream().collect(Collectors.groupingBy(Claim::lease));
        return Flux.fromIterable(byLease.values())
                .concatMap(claims -> database.run(session -> renewed(session, claims)))
                .collectList()
                .map(Renewal::together);
    }

    private static Mono<RenewalResult> renewed(Session session, List<Claim> claims) {
        List<Object> parameters = new ArrayList<>();
        parameters.add(Keys.micros(claims.get(0).lease()));
        claims.forEach(claim -> parameters.add(Keys.bytes(claim.key())));
        claims.forEach(claim -> parameters.add(claim.id()));
        Set<String> all = claims.stream().map(Claim::id).collect(Collectors.toSet());
        return session.alone(session.changeListed("renew", claims.size(), parameters.toArray()))
                .flatMap(rows -> rows == claims.size()
                        ? Mono.just(new RenewalResult(all, Map.of()))
                        : whatIsLeft(session, claims));
    }

    private static Mono<RenewalResult> whatIsLeft(Session session, List<Claim> claims) {
        Object[] keys = claims.stream().map(claim -> Keys.bytes(claim.key())).toArray();
        return session.alone(session.listed("owners", claims.size(), Waits.Owner::read, keys))
                .map(owners -> {
                    Map<String, String> ownerOf = new HashMap<>();
                    owners.forEach(owner -> ownerOf.put(owner.key(), owner.claimId()));
                    Set<String> kept = new HashSet<>();
                    Map<String, LossReason> lost = new HashMap<>();
                    for (Claim claim : claims) {
                        String owner = ownerOf.get(claim.key());
                        if (claim.id().equals(owner)) {
                            kept.add(claim.id());
                        } else {
                            lost.put(claim.id(), owner == null ? LossReason.EXPIRED : LossReason.TAKEN_OVER);
                        }
                    }
                    return new RenewalResult(kept, lost);
                });
    }

    private static RenewalResult together(List<RenewalResult> parts) {
        Set<String> renewed = new HashSet<>();
        Map<String, LossReason> lost = new HashMap<>();
        parts.forEach(part -> {
            renewed.addAll(part.renewed());
            lost.putAll(part.lost());
        });
        return new RenewalResult(renewed, lost);
    }
}
