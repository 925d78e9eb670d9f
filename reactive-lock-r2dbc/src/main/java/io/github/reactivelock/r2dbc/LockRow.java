package io.github.reactivelock.r2dbc;

import io.r2dbc.spi.Row;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** The row of a lock and the database's time at which it was read. A free lock has no claim. */
record LockRow(
        @Nullable String claimId,
        @Nullable String owner,
        @Nullable String client,
        long token,
        long leaseEnd,
        boolean isWaitedFor,
        long places,
        long watchedUntil,
        long now) {

    /** The claim of a lock while shares of it are out; no claim has such an id. */
    private static final String SHARED = "=";

    /** A row that was locked, and when. */
    static LockRow read(Row row, long now) {
        return new LockRow(
                row.get("claim_id", String.class),
                row.get("owner", String.class),
                row.get("client", String.class),
                number(row, "token"),
                number(row, "lease_end"),
                number(row, "waiting") != 0,
                number(row, "places"),
                number(row, "watched_until"),
                now);
    }

    LockRow at(long later) {
        return new LockRow(claimId, owner, client, token, leaseEnd, isWaitedFor, places, watchedUntil, later);
    }

    LockRow with(long newToken) {
        return new LockRow(claimId, owner, client, newToken, leaseEnd, isWaitedFor, places, watchedUntil, now);
    }

    /** Whether it is no claim but the mark of a lock that is shared. */
    static boolean isMark(String claimId) {
        return SHARED.equals(claimId);
    }

    static long number(Row row, String column) {
        return Objects.requireNonNull(row.get(column, Long.class), column);
    }

    static String text(Row row, String column) {
        return Objects.requireNonNull(row.get(column, String.class), column);
    }

    /** Whether a claim owns the lock whose lease has not ended. */
    boolean isHeld() {
        return claimId != null && leaseEnd > now;
    }

    /** Whether shares of it are out. */
    boolean isShared() {
        return isHeld() && SHARED.equals(claimId);
    }

    boolean isHeldBy(String id) {
        return isHeld() && id.equals(claimId);
    }

    boolean isWatched() {
        return watchedUntil > now;
    }

    /** Higher than that of every earlier grant, also when the row of the last one was cleaned away. */
    long nextToken() {
        return Math.max(token + 1, now);
    }
}
