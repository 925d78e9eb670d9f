package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.r2dbc.spi.Row;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/** What one statement saw of a lock: who owns it. */
record Seen(@Nullable String claimId, long token, long remaining) {
    static Seen read(Row row) {
        return new Seen(
                row.get("claim_id", String.class), LockRow.number(row, "token"), LockRow.number(row, "remaining"));
    }

    /** How the statement for a free lock is read. */
    static Function<Row, Seen> of(SqlSession session) {
        return session.sql().dialect == Dialect.MARIADB ? Seen::parse : Seen::read;
    }

    private static Seen parse(Row row) {
        String[] seen = String.valueOf(row.get("seen", String.class)).split(" ", 3);
        return new Seen(seen.length < 3 ? null : seen[2], Long.parseLong(seen[0]), Long.parseLong(seen[1]));
    }

    /** Empty if the lock is not taken and a claim of its kind wants more than to know that. */
    Mono<ClaimResult> taken(Claim claim) {
        boolean isBusy = claimId != null && remaining > 0 && !claim.id().equals(claimId);
        return claim.id().equals(claimId) || (isBusy && claim.mode() == Claim.Mode.TRY) ? answer(claim) : Mono.empty();
    }

    /** Empty if the claim's own lease ended while the statement ran. */
    Mono<ClaimResult> answer(Claim claim) {
        if (claim.id().equals(claimId)) {
            return remaining > 0 ? Mono.just(TableLock.granted(token, claim)) : Mono.empty();
        }
        return Mono.just(Recalls.behind(claimId, claim, TableLock.queued(claim, remaining, token)));
    }

    /** What a claim that waits wants to know, if it goes on waiting. */
    Mono<ClaimResult> queued(Claim claim) {
        boolean isHeld = claimId != null && remaining > 0 && !claim.id().equals(claimId);
        return isHeld
                ? Mono.just(Recalls.behind(claimId, claim, TableLock.queued(claim, remaining, token)))
                : Mono.empty();
    }
}
