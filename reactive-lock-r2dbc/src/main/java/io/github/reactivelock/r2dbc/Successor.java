package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;

/**
 * A claim that a transaction gives the lock to.
 *
 * @param place where it waited; zero if it did not
 */
record Successor(String claimId, String owner, String client, long lease, long place) {

    static Successor of(Claim claim, String client) {
        return new Successor(claim.id(), claim.owner(), client, Keys.micros(claim.lease()), 0);
    }
}
