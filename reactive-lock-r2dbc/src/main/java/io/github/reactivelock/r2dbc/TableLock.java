package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.LockInfo;
import io.r2dbc.spi.Row;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Claims and releases as transactions on the lock's row. A lock that is free, or that nobody else wants, changes hands by
 * one statement that says under which condition; everything else locks the row first.
 */
final class TableLock {

    private final Database database;
    private final Pushes pushes;
    private final Waits waits;
    private final Lanes lanes = new Lanes();

    TableLock(Database database, Pushes pushes, Waits waits) {
        this.database = database;
        this.pushes = pushes;
        this.waits = waits;
    }

    Mono<ClaimResult> claim(Claim claim) {
        Mono<ClaimResult> answer = Mono.defer(() -> {
            waits.begin(claim);
            return database.runAgain(session -> quick(session, claim).switchIfEmpty(asked(session, claim)));
        });
        return lanes.claim(claim, answer.doOnNext(result -> {
            if (result instanceof ClaimResult.Queued) {
                waits.add(claim);
            } else {
                waits.remove(claim.id());
            }
            if (result instanceof ClaimResult.Busy) {
                waits.end(claim);
            }
        }));
    }

    /** What one statement can answer; a lock for which others of this backend wait is not free. */
    private Mono<ClaimResult> quick(Session session, Claim claim) {
        if (waits.contains(claim)) {
            return glanced(session, claim);
        }
        return waits.isWaitedFor(claim.key()) ? Mono.empty() : taken(session, claim);
    }

    /** The lock if it is free, by one statement. */
    private Mono<ClaimResult> taken(Session session, Claim claim) {
        byte[] key = Keys.bytes(claim.key());
        Object[] parameters = {key, claim.id(), claim.owner(), pushes.client(), Keys.micros(claim.lease())};
        Mono<Taken> taken = session.sql().dialect.notifies()
                ? session.alone(session.one("take", Taken::read, parameters))
                : session.alone(session.change("take", parameters))
                        .then(session.alone(session.one("look", Taken::read, key)));
        return taken.filter(row -> row.claimId().equals(claim.id())).map(row -> granted(row.token(), claim));
    }

    private record Taken(String claimId, long token) {
        static Taken read(Row row) {
            return new Taken(String.valueOf(row.get("claim_id", String.class)), LockRow.number(row, "token"));
        }
    }

    /** The answer to a waiting claim for which nothing has changed, by one look. */
    private Mono<ClaimResult> glanced(Session session, Claim claim) {
        long half = Keys.micros(claim.lease()) / 2;
        return session.alone(session.all("glance", Glance::read, claim.id(), Keys.bytes(claim.key())))
                .flatMapIterable(seen -> seen)
                .filter(seen -> seen.claimId() != null
                        && seen.left() > 0
                        && seen.alive() > half
                        && !claim.id().equals(seen.claimId()))
                .next()
                .map(seen -> queued(seen.left(), seen.token()));
    }

    private record Glance(@Nullable String claimId, long token, long left, long alive) {
        static Glance read(Row row) {
            long now = LockRow.number(row, "now_is");
            return new Glance(
                    row.get("claim_id", String.class),
                    LockRow.number(row, "token"),
                    LockRow.number(row, "lease_end") - now,
                    LockRow.number(row, "alive_until") - now);
        }
    }

    /** The full question: who owns the lock, who is next, and where this claim stands. */
    private Mono<ClaimResult> asked(Session session, Claim claim) {
        return Transfer.of(session, pushes, claim.key(), (transfer, row) -> {
            if (row.isHeldBy(claim.id())) {
                return session.change("extend", row.now() + Keys.micros(claim.lease()), Keys.bytes(claim.key()))
                        .thenReturn(granted(row.token(), claim));
            }
            return row.isHeld()
                    ? behind(transfer, row, claim, row.leaseEnd() - row.now(), row.token())
                    : free(transfer, row, claim);
        });
    }

    /**
     * A lock without a live owner belongs to whoever has waited longest. That this claim waits is not always to be seen
     * in the lock's row: an operator may have deleted it, or nobody may have heard of the claim for too long.
     */
    private Mono<ClaimResult> free(Transfer transfer, LockRow row, Claim claim) {
        boolean waited = waits.contains(claim);
        return (waited ? transfer.queue(row) : transfer.waiting(row)).flatMap(queue -> {
            Successor next = queue.isEmpty() ? Successor.of(claim, pushes.client()) : queue.get(0);
            Mono<Void> left = waited && queue.isEmpty() ? transfer.leave(claim.id()) : Mono.empty();
            return left.then(Mono.defer(() -> granted(transfer, row, claim, next, queue.size() > 1)));
        });
    }

    private Mono<ClaimResult> granted(Transfer transfer, LockRow row, Claim claim, Successor next, boolean othersWait) {
        return transfer.grant(row, next, othersWait)
                .flatMap(token -> next.claimId().equals(claim.id())
                        ? Mono.just(granted(token, claim))
                        : transfer.tellGrant(next, token)
                                .then(Mono.defer(() -> behind(transfer, row, claim, next.lease(), token))))
                .switchIfEmpty(Mono.defer(() -> free(transfer, row, claim)));
    }

    private Mono<ClaimResult> behind(Transfer transfer, LockRow row, Claim claim, long left, long ownersToken) {
        return claim.mode() == Claim.Mode.TRY
                ? Mono.just(new ClaimResult.Busy())
                : transfer.enqueue(row, Successor.of(claim, pushes.client())).thenReturn(queued(left, ownersToken));
    }

    /** The row is locked, or was read by one statement, so the owner's token is the last that was given. */
    private static ClaimResult queued(long left, long ownersToken) {
        return new ClaimResult.Queued(Keys.time(left), null, ownersToken << LockBackend.PASS_BITS);
    }

    private static ClaimResult granted(long token, Claim claim) {
        return new ClaimResult.Granted(token << LockBackend.PASS_BITS, claim.lease());
    }

    Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            if (lanes.drop(claim) && !waits.hasBegun(claim)) {
                return Mono.just(false);
            }
            return lanes.inTurn(claim.key(), Mono.defer(() -> {
                boolean waited = waits.contains(claim);
                waits.remove(claim.id());
                return database.run(session -> waited
                                ? session.alone(session.change("leave", claim.id()))
                                        .flatMap(rows -> rows > 0 ? Mono.just(false) : released(session, claim))
                                : released(session, claim))
                        .doOnNext(owned -> waits.end(claim));
            }));
        });
    }

    private Mono<Boolean> released(Session session, Claim claim) {
        return session.alone(session.change("release", Keys.bytes(claim.key()), claim.id()))
                .flatMap(rows -> rows > 0 ? Mono.just(true) : ended(session, claim));
    }

    private Mono<Boolean> ended(Session session, Claim claim) {
        return Transfer.of(session, pushes, claim.key(), (transfer, row) -> {
            Mono<Void> end = claim.id().equals(row.claimId()) ? transfer.passOn(row) : transfer.leave(claim.id());
            return end.thenReturn(row.isHeldBy(claim.id()));
        });
    }

    Mono<Boolean> forceRelease(String key, long fencingToken) {
        return lanes.inTurn(
                key,
                database.run(session -> Transfer.of(
                        session,
                        pushes,
                        key,
                        (transfer, row) -> row.isHeld() && row.token() == fencingToken >> LockBackend.PASS_BITS
                                ? transfer.tellLoss(row)
                                        .then(transfer.passOn(row))
                                        .thenReturn(true)
                                : Mono.just(false))));
    }

    Mono<LockInfo> inspect(String key) {
        return database.run(session -> session.alone(session.one(
                        "inspect",
                        row -> info(key, LockRow.read(row), LockRow.number(row, "waiters")),
                        Keys.bytes(key))))
                .defaultIfEmpty(new LockInfo.Free(key));
    }

    static LockInfo info(String key, LockRow row, long waiters) {
        return row.isHeld()
                ? new LockInfo.Held(
                        key,
                        String.valueOf(row.owner()),
                        row.token() << LockBackend.PASS_BITS,
                        Keys.time(row.leaseEnd() - row.now()),
                        waiters)
                : new LockInfo.Free(key);
    }
}
