package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.state.LossReason;
import io.r2dbc.spi.Row;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Renews many holds at once for each lease in use, and looks closer only if some of them were not renewed. A row that
 * another transaction has locked is passed over, so that it costs its own hold only.
 */
final class Renewal {

    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(160);

    private final Database database;
    private final ShareRenewal ofShares;

    Renewal(Database database, ShareRenewal ofShares) {
        this.database = database;
        this.ofShares = ofShares;
    }

    Mono<RenewalResult> renew(List<Claim> held) {
        Map<Duration, List<Claim>> byLease =
                held.stream().filter(claim -> claim.share().isWhole()).collect(Collectors.groupingBy(Claim::lease));
        List<Claim> shares =
                held.stream().filter(claim -> !claim.share().isWhole()).toList();
        return Flux.fromIterable(byLease.values())
                .concatMap(claims -> renewed(claims, FIRST_PAUSE))
                .concatWith(shares.isEmpty() ? Flux.empty() : ofShares.renew(shares))
                .collectList()
                .map(Renewal::together);
    }

    /** A row that is locked, as by a claim that joins the queue, is asked for again a few times. */
    private Mono<RenewalResult> renewed(List<Claim> claims, Duration pause) {
        return database.run(session -> renewed(session, claims)).flatMap(answer -> {
            List<Claim> locked = claims.stream()
                    .filter(claim -> !answer.renewed().contains(claim.id())
                            && !answer.lost().containsKey(claim.id()))
                    .toList();
            return locked.isEmpty() || pause.compareTo(LONGEST_PAUSE) > 0
                    ? Mono.just(answer)
                    : Mono.delay(pause, DriverThreads.timer())
                            .then(Mono.defer(() -> renewed(locked, pause.multipliedBy(2))))
                            .map(later -> together(List.of(answer, later)))
                            .onErrorReturn(answer);
        });
    }

    private static Mono<RenewalResult> renewed(Session session, List<Claim> claims) {
        long lease = Keys.micros(claims.get(0).lease());
        return session.inOneListed("prolong", claims.size(), Renewal::ids, names(claims, lease))
                .switchIfEmpty(session.transaction(
                        session.listed("mine", claims.size(), row -> LockRow.text(row, "claim_id"), names(claims))
                                .flatMap(mine -> prolonged(session, lease, claims, mine))))
                .flatMap(ids -> ids.size() == claims.size()
                        ? Mono.just(new RenewalResult(Set.copyOf(ids), Map.of()))
                        : whatIsLeft(session, claims, Set.copyOf(ids)));
    }

    private static List<String> ids(Row row) {
        return Arrays.stream(LockRow.text(row, "claim_ids").split(" ", -1))
                .filter(id -> !id.isEmpty())
                .toList();
    }

    private static Object[] names(List<Claim> claims, Object... before) {
        List<Object> names = new ArrayList<>(List.of(before));
        claims.forEach(claim -> names.add(Keys.bytes(claim.key())));
        claims.forEach(claim -> names.add(claim.id()));
        return names.toArray();
    }

    /** Rows that are locked by now, so none is waited for. */
    private static Mono<List<String>> prolonged(Session session, long lease, List<Claim> claims, List<String> ids) {
        List<Claim> mine =
                claims.stream().filter(claim -> ids.contains(claim.id())).toList();
        return mine.isEmpty()
                ? Mono.just(ids)
                : session.changeListed("renew", mine.size(), names(mine, lease)).thenReturn(ids);
    }

    /** A hold that is there but was not renewed, because its row is locked, is asked about again. */
    private static Mono<RenewalResult> whatIsLeft(Session session, List<Claim> claims, Set<String> renewed) {
        Object[] keys = claims.stream().map(claim -> Keys.bytes(claim.key())).toArray();
        return session.alone(session.listed("owners", claims.size(), WaitingClaims.Owner::read, keys))
                .map(owners -> {
                    Map<String, String> ownerOf = new HashMap<>();
                    owners.forEach(owner -> ownerOf.put(owner.key(), owner.claimId()));
                    Map<String, LossReason> lost = new HashMap<>();
                    for (Claim claim : claims) {
                        String owner = ownerOf.get(claim.key());
                        if (!renewed.contains(claim.id()) && !claim.id().equals(owner)) {
                            lost.put(claim.id(), owner == null ? LossReason.EXPIRED : LossReason.TAKEN_OVER);
                        }
                    }
                    return new RenewalResult(renewed, lost);
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
