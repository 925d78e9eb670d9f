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
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Signal;

/**
 * Renews many holds by one statement, each for its own lease, and looks closer only if some of them were not renewed. A
 * row that another transaction has locked is passed over, so that it costs its own hold only. What the database refuses
 * for the sake of one of them is divided until that one is alone; the failure of a part is that part's.
 */
final class Renewal {

    private static final Logger log = LoggerFactory.getLogger(Renewal.class);
    /** Holds in one statement. */
    private static final int MOST = 1_000;

    private static final Duration FIRST_PAUSE = Duration.ofMillis(10);
    private static final Duration LONGEST_PAUSE = Duration.ofMillis(160);

    private final Database database;
    private final ShareRenewal ofShares;

    Renewal(Database database, ShareRenewal ofShares) {
        this.database = database;
        this.ofShares = ofShares;
    }

    Mono<RenewalResult> renew(List<Claim> held) {
        List<Claim> whole =
                held.stream().filter(claim -> claim.share().isWhole()).toList();
        List<Claim> shares =
                held.stream().filter(claim -> !claim.share().isWhole()).toList();
        return Flux.fromIterable(whole)
                .buffer(MOST)
                .concatMap(claims -> renewed(claims, FIRST_PAUSE).materialize())
                .concatWith(
                        shares.isEmpty() ? Flux.empty() : ofShares.renew(shares).materialize())
                .as(Renewal::joined);
    }

    /** Some of the claims, and what came of asking for them together: one value, or an error. */
    record Part<C, R>(List<C> of, Signal<R> answer) {}

    /** Asks for all together. What the database refuses for the sake of one of them is divided until that is alone. */
    static <C, R> Flux<Part<C, R>> divided(
            List<C> all, Function<List<C>, Mono<R>> together, Predicate<Throwable> isOfOne) {
        return together.apply(all).materialize().flatMapMany(answer -> {
            Throwable refusal = answer.getThrowable();
            if (refusal == null || all.size() == 1 || !isOfOne.test(refusal)) {
                return Flux.just(new Part<>(all, answer));
            }
            int half = all.size() / 2;
            return Flux.concat(
                    divided(all.subList(0, half), together, isOfOne),
                    divided(all.subList(half, all.size()), together, isOfOne));
        });
    }

    /** The answers of those parts that have one; an error only if none has. */
    private static Mono<RenewalResult> joined(Flux<Signal<RenewalResult>> parts) {
        return parts.collectList().flatMap(answers -> {
            List<RenewalResult> known = new ArrayList<>();
            List<Throwable> failures = new ArrayList<>(0);
            answers.forEach(answer -> {
                if (answer.isOnError()) {
                    log.debug("some holds could not be renewed", answer.getThrowable());
                    failures.add(Objects.requireNonNull(answer.getThrowable()));
                } else {
                    known.add(Objects.requireNonNull(answer.get()));
                }
            });
            return known.isEmpty() && !failures.isEmpty()
                    ? Mono.error(failures.get(0))
                    : Mono.just(RenewalResult.joined(known));
        });
    }

    private Mono<RenewalResult> renewed(List<Claim> claims, Duration pause) {
        return divided(claims, some -> together(some, pause), R2dbcFailure::isOfOne)
                .map(Part::answer)
                .as(Renewal::joined);
    }

    /** A row that is locked, as by a claim that joins the queue, is asked for again a few times. */
    private Mono<RenewalResult> together(List<Claim> claims, Duration pause) {
        return database.run(session -> renewed(session, claims)).flatMap(answer -> {
            List<Claim> locked = claims.stream()
                    .filter(claim -> !answer.renewed().contains(claim.id())
                            && !answer.lost().containsKey(claim.id()))
                    .toList();
            return locked.isEmpty() || pause.compareTo(LONGEST_PAUSE) > 0
                    ? Mono.just(answer)
                    : Mono.delay(pause, DriverThreads.timer())
                            .then(Mono.defer(() -> renewed(locked, pause.multipliedBy(2))))
                            .map(later -> RenewalResult.joined(List.of(answer, later)))
                            .onErrorReturn(answer);
        });
    }

    private static Mono<RenewalResult> renewed(SqlSession session, List<Claim> claims) {
        return session.inOne("prolong", Renewal::ids, prolonging(session, claims))
                .switchIfEmpty(session.transaction(
                        session.all("mine", row -> LockRow.text(row, "claim_id"), keys(claims), ids(claims))
                                .flatMap(mine -> prolonged(session, claims, mine))))
                .flatMap(ids -> ids.size() == claims.size()
                        ? Mono.just(new RenewalResult(Set.copyOf(ids), Map.of()))
                        : whatIsLeft(session, claims, Set.copyOf(ids)));
    }

    private static List<byte[]> keys(List<Claim> claims) {
        return claims.stream().map(claim -> KeyLayout.bytes(claim.key())).toList();
    }

    private static List<String> ids(List<Claim> claims) {
        return claims.stream().map(Claim::id).toList();
    }

    private static List<Long> leases(List<Claim> claims) {
        return claims.stream().map(claim -> Micros.of(claim.lease())).toList();
    }

    /** Each id and its lease, for databases without arrays. */
    private static List<Object> pairs(List<Claim> claims) {
        return claims.stream()
                .flatMap(claim -> Stream.<Object>of(claim.id(), Micros.of(claim.lease())))
                .toList();
    }

    private static Object[] prolonging(SqlSession session, List<Claim> claims) {
        return session.sql().dialect.hasArrays()
                ? new Object[] {keys(claims), ids(claims), leases(claims)}
                : new Object[] {keys(claims), ids(claims), pairs(claims)};
    }

    /** The parameters of a statement that lets the leases of shares begin at a time. */
    static Object[] leases(SqlSession session, long now, List<Claim> claims) {
        return session.sql().dialect.hasArrays()
                ? new Object[] {now, ids(claims), leases(claims)}
                : new Object[] {now, pairs(claims), ids(claims)};
    }

    private static List<String> ids(Row row) {
        String ids = row.get("claim_ids", String.class);
        return Arrays.stream(ids == null ? new String[0] : ids.split(" ", -1))
                .filter(id -> !id.isEmpty())
                .toList();
    }

    /** Rows that are locked by now, so none is waited for; not in PostgreSQL, which does it in one statement. */
    private static Mono<List<String>> prolonged(SqlSession session, List<Claim> claims, List<String> ids) {
        List<Claim> mine =
                claims.stream().filter(claim -> ids.contains(claim.id())).toList();
        return mine.isEmpty()
                ? Mono.just(ids)
                : session.change("renew", pairs(mine), keys(mine), ids(mine)).thenReturn(ids);
    }

    /** A hold that is there but was not renewed, because its row is locked, is asked about again. */
    private static Mono<RenewalResult> whatIsLeft(SqlSession session, List<Claim> claims, Set<String> renewed) {
        return session.alone(session.all("owners", WaitingClaims.Owner::read, keys(claims)))
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
}
