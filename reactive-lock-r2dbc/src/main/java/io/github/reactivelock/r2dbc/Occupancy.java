package io.github.reactivelock.r2dbc;

import io.github.reactivelock.state.Share;
import io.r2dbc.spi.Row;

/**
 * How much of a lock is in use, in a transaction that has locked its row.
 *
 * @param row the row as it was locked
 * @param units those of all holders; those of many shares may come to as many as the whole has, so that counts as more
 * @param firstEnd when the next of their leases ends
 * @param lastEnd when the last of them ends
 * @param token the last that was given
 */
record Occupancy(LockRow row, long units, long firstEnd, long lastEnd, long token) {

    private static final long WHOLE = 2L * Share.WHOLE.units();

    static Occupancy none(LockRow row) {
        return new Occupancy(row, 0, Long.MAX_VALUE, 0, row.token());
    }

    static Occupancy whole(LockRow row) {
        return new Occupancy(row, WHOLE, row.leaseEnd(), row.leaseEnd(), row.token());
    }

    static Occupancy read(LockRow row, Row sums) {
        long units = LockRow.number(sums, "units");
        return units == 0
                ? none(row)
                : new Occupancy(
                        row, units, LockRow.number(sums, "first_end"), LockRow.number(sums, "last_end"), row.token());
    }

    boolean isWhole() {
        return units == WHOLE;
    }

    boolean fits(Successor next) {
        return next.share().fitsBeside(units);
    }

    Occupancy with(Successor next, long nextToken) {
        long end = row.now() + next.lease();
        long used = next.isWhole() ? WHOLE : units + next.units();
        return new Occupancy(row, used, Math.min(firstEnd, end), Math.max(lastEnd, end), nextToken);
    }

    long nextToken() {
        return Math.max(token + 1, row.now());
    }
}
