package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import io.r2dbc.spi.Row;

/**
 * A claim that a transaction gives the lock to, or a share of it.
 *
 * @param place where it waited; zero if it did not
 */
record Successor(String claimId, String owner, String client, long lease, long place, long units, long capacity) {

    static Successor of(Claim claim, String client) {
        Share share = claim.share();
        return new Successor(
                claim.id(), claim.owner(), client, Keys.micros(claim.lease()), 0, share.units(), share.capacity());
    }

    static Successor read(Row row) {
        return new Successor(
                LockRow.text(row, "claim_id"),
                LockRow.text(row, "owner"),
                LockRow.text(row, "client"),
                LockRow.number(row, "lease"),
                LockRow.number(row, "place"),
                LockRow.number(row, "units"),
                LockRow.number(row, "capacity"));
    }

    boolean isWhole() {
        return units == Share.WHOLE.units();
    }
}
