package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Renews shares. A share is renewed with the row of its lock locked, because its end moves the end of the mark there. First all
 * of a lease together, passing over rows that others have locked. A row of a busy lock may always be locked, so those that
 * were passed over then wait for theirs, each by itself, in an order left to chance: those that are stuck are not always first.
 */
final class ShareRenewal {

    private static final int AT_ONCE = 2;
    /** Rows that are stuck delay the answer about the others no longer, however many they are. */
    private static final Duration LONGEST = Duration.ofSeconds(1);

    private static final RenewalResult UNKNOWN = new RenewalResult(Set.of(), Map.of());

    private final Database database;
    private final SignalSink pushes;
    private final Duration longest;

    ShareRenewal(Database database, SignalSink pushes) {
        this(database, pushes, LONGEST);
    }

    /** @param longest how long rows that are locked are waited for */
    ShareRenewal(Database database, SignalSink pushes, Duration longest) {
        this.database = database;
        this.pushes = pushes;
        this.longest = longest;
    }

    Flux<RenewalResult> renew(List<Claim> shares) {
        Map<Duration, List<Claim>> byLease = shares.stream().collect(Collectors.groupingBy(Claim::lease));
        return Flux.fromIterable(byLease.values())
                .concatMap(claims ->
                        database.run(session -> session.bounded(session.transaction(together(session, claims)))))
                .collect(() -> new HashSet<String>(), Set::addAll)
                .flatMapMany(renewed -> {
                    List<Claim> left = new ArrayList<>(shares);
                    left.removeIf(claim -> renewed.contains(claim.id()));
                    Collections.shuffle(left);
                    return Flux.fromIterable(left)
                            .flatMap(this::alone, AT_ONCE)
                            .take(longest, DriverThreads.timer())
                            .startWith(new RenewalResult(renewed, Map.of()));
                });
    }

    private static Mono<Set<String>> together(Session session, List<Claim> claims) {
        long lease = Keys.micros(claims.get(0).lease());
        List<byte[]> names =
                claims.stream().map(Claim::key).distinct().map(Keys::bytes).toList();
        Object[] ids = claims.stream().map(Claim::id).toArray();
        return session.listed(
                        "shares_lock",
                        names.size(),
                        row -> Keys.key(Objects.requireNonNull(row.get("lock_key", byte[].class))),
                        names.toArray())
                .flatMap(keys -> keys.isEmpty()
                        ? Mono.just(Set.<String>of())
                        : session.listed("shares_mine", ids.length, WaitingClaims.Owner::read, ids)
                                .map(mine -> mine.stream()
                                        .filter(share -> keys.contains(share.key()))
                                        .toList())
                                .flatMap(mine -> prolonged(session, mine, lease)));
    }

    private static Mono<Set<String>> prolonged(Session session, List<WaitingClaims.Owner> mine, long lease) {
        if (mine.isEmpty()) {
            return Mono.just(Set.of());
        }
        List<Object> ids =
                mine.stream().<Object>map(WaitingClaims.Owner::claimId).collect(Collectors.toList());
        List<Object> names = mine.stream()
                .map(WaitingClaims.Owner::key)
                .distinct()
                .<Object>map(Keys::bytes)
                .collect(Collectors.toList());
        Set<String> renewed = mine.stream().map(WaitingClaims.Owner::claimId).collect(Collectors.toUnmodifiableSet());
        return session.one("clock", found -> LockRow.number(found, "now_is") + lease)
                .flatMap(end -> {
                    ids.add(0, end);
                    return session.changeListed("shares_renew", ids.size() - 1, ids.toArray())
                            .then(session.changeListed("shares_mark", names.size(), names.toArray()));
                })
                .thenReturn(renewed);
    }

    /** One that the database cannot tell about is neither renewed nor lost. */
    private Mono<RenewalResult> alone(Claim claim) {
        return database.run(session -> HandOverTransaction.of(
                        session,
                        pushes,
                        claim.key(),
                        (transfer, row) -> transfer.shares()
                                .keep(row, claim, claim)
                                .map(kept -> kept
                                        ? new RenewalResult(Set.of(claim.id()), Map.of())
                                        : new RenewalResult(Set.of(), Map.of(claim.id(), reason(row))))))
                .onErrorReturn(UNKNOWN);
    }

    private static LossReason reason(LockRow row) {
        return row.isHeld() && !row.isShared() ? LossReason.TAKEN_OVER : LossReason.EXPIRED;
    }
}
