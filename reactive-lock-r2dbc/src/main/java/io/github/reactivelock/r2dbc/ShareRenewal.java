package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.SilenceClock;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Renews shares. A share is renewed with the row of its lock locked, because its end moves the end of the mark there.
 * First all together, passing over rows that others have locked. A row of a busy lock may always be locked, so those
 * that were passed over then wait for theirs, each by itself, in an order left to chance: those that are stuck are not
 * always first.
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

    /**
     * All together, divided as long as the database refuses them for the sake of one. What is left then is asked for by
     * itself.
     */
    Mono<RenewalResult> renew(List<Claim> shares) {
        return Renewal.divided(shares, this::together, R2dbcFailure::divides)
                .collectList()
                .flatMap(this::withLeft);
    }

    private Mono<RenewalResult> withLeft(List<Renewal.Part<Claim, Set<String>>> parts) {
        Set<String> renewed = new HashSet<>();
        List<Claim> left = new ArrayList<>();
        AtomicReference<@Nullable Throwable> failure = new AtomicReference<>();
        for (Renewal.Part<Claim, Set<String>> part : parts) {
            Throwable refusal = part.answer().getThrowable();
            Set<String> answer =
                    refusal == null ? Objects.requireNonNull(part.answer().get()) : Set.of();
            failure.compareAndSet(null, refusal);
            renewed.addAll(answer);
            if (refusal == null || R2dbcFailure.isOfOne(refusal)) {
                part.of().stream().filter(claim -> !answer.contains(claim.id())).forEach(left::add);
            }
        }
        Collections.shuffle(left);
        return Flux.fromIterable(left)
                .flatMap(this::alone, AT_ONCE)
                .takeUntilOther(SilenceClock.ofThisProcess().silence(longest))
                .startWith(new RenewalResult(renewed, Map.of()))
                .collectList()
                .map(RenewalResult::joined)
                .flatMap(answer -> {
                    Throwable refused = failure.get();
                    boolean isNothing =
                            answer.renewed().isEmpty() && answer.lost().isEmpty();
                    return isNothing && refused != null ? Mono.error(refused) : Mono.just(answer);
                });
    }

    private Mono<Set<String>> together(List<Claim> shares) {
        return database.run(session -> session.bounded(session.transaction(together(session, shares))));
    }

    private static Mono<Set<String>> together(SqlSession session, List<Claim> claims) {
        List<byte[]> names =
                claims.stream().map(Claim::key).distinct().map(KeyLayout::bytes).toList();
        List<String> ids = claims.stream().map(Claim::id).toList();
        return session.all("shares_lock", row -> KeyLayout.key(KeyLayout.read(row)), names)
                .flatMap(keys -> keys.isEmpty()
                        ? Mono.just(Set.<String>of())
                        : session.all("shares_mine", WaitingClaims.Owner::read, ids)
                                .map(mine -> mine.stream()
                                        .filter(share -> keys.contains(share.key()))
                                        .toList())
                                .flatMap(mine -> prolonged(session, mine, claims)));
    }

    private static Mono<Set<String>> prolonged(SqlSession session, List<WaitingClaims.Owner> mine, List<Claim> claims) {
        if (mine.isEmpty()) {
            return Mono.just(Set.of());
        }
        Set<String> renewed = mine.stream().map(WaitingClaims.Owner::claimId).collect(Collectors.toUnmodifiableSet());
        List<Claim> found =
                claims.stream().filter(claim -> renewed.contains(claim.id())).toList();
        List<byte[]> names =
                found.stream().map(Claim::key).distinct().map(KeyLayout::bytes).toList();
        return session.one("clock", row -> LockRow.number(row, "now_is"))
                .flatMap(now -> session.change("shares_renew", Renewal.leases(session, now, found)))
                .then(session.change("shares_mark", names))
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
