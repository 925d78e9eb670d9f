package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.state.Share;
import io.r2dbc.spi.Row;

/**
 * A claim that a transaction gives the lock to, or a share of it.
 *
 * @param place where it waited; zero if it did not
 */
record Successor(String claimId, String owner, String client, long lease, long place, Share share) {

    static Successor of(Claim claim, String client) {
        return new Successor(claim.id(), claim.owner(), client, Micros.of(claim.lease()), 0, claim.share());
    }

    static Successor read(Row row) {
        return new Successor(
                LockRow.text(row, "claim_id"),
                LockRow.text(row, "owner"),
                LockRow.text(row, "client"),
                LockRow.number(row, "lease"),
                LockRow.number(row, "place"),
                new Share(
                        Math.toIntExact(LockRow.number(row, "units")),
                        Math.toIntExact(LockRow.number(row, "capacity"))));
    }

    boolean isWhole() {
        return share.isWhole();
    }

    long units() {
        return share.units();
    }

    long capacity() {
        return share.capacity();
    }
}
