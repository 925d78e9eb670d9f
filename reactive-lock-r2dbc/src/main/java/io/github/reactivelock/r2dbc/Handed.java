package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import io.r2dbc.spi.Row;
import org.jspecify.annotations.Nullable;

/** Who owns the lock after it was released. */
record Handed(@Nullable String claimId, @Nullable String client, long token) {
    static Handed read(Row row) {
        return new Handed(
                row.get("claim_id", String.class), row.get("client", String.class), LockRow.number(row, "token"));
    }

    /** Tells a claim of this backend; the release was one of an owner. */
    boolean tell(SignalSink pushes, WaitingClaims waits, String key) {
        if (claimId == null) {
            waits.noteFree(key);
        } else {
            waits.noteContended(key);
        }
        if (claimId != null && client != null && pushes.isFor(client)) {
            pushes.push(new Signal.Grant(claimId, FencingTokens.of(token)));
        }
        return true;
    }
}
