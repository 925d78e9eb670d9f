package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.r2dbc.spi.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import reactor.core.publisher.Mono;

/**
 * The shares of a lock, in a transaction that has locked its row. While shares are out the row names no owner but a
 * mark, whose lease is that of the last of them to end. So the statements for claims of the whole find the lock held.
 * The shares themselves are rows of another table; they count as long as the mark is there.
 */
final class Sharing {

    /** How many are served in one transaction. */
    private static final int MOST = 100;

    private final HandOverTransaction transfer;
    private final SqlSession session;
    private final SignalSink pushes;
    private final byte[] name;

    Sharing(HandOverTransaction transfer, SqlSession session, SignalSink pushes, String key) {
        this.transfer = transfer;
        this.session = session;
        this.pushes = pushes;
        this.name = KeyLayout.bytes(key);
    }

    private record Held(String claimId, String client, long units, long token) {
        static Held read(Row row) {
            return new Held(
                    LockRow.text(row, "claim_id"),
                    LockRow.text(row, "client"),
                    LockRow.number(row, "units"),
                    LockRow.number(row, "token"));
        }
    }

    /** What came of a look at the queue. */
    private record Turn(Occupancy after, List<Successor> served, long base, boolean isWaitedFor, boolean mayGoOn) {
        static Turn none(Occupancy in, boolean isWaitedFor) {
            return new Turn(in, List.of(), 0, isWaitedFor, false);
        }

        Optional<Long> tokenOf(String claimId) {
            return served.stream()
                    .filter(next -> next.claimId().equals(claimId))
                    .findFirst()
                    .map(next -> base + next.place());
        }
    }

    /**
     * Who is in; a holder that has been silent for a lease of its own is forgotten,
     * {@code models/Shares.tla: OwnDeadline}.
     */
    private Mono<Occupancy> occupied(LockRow row) {
        boolean isShared = row.isShared();
        Mono<Long> forgotten = session.change("expire", name, isShared ? row.now() : Long.MAX_VALUE);
        return forgotten.then(
                isShared
                        ? session.one("in_use", sums -> Occupancy.read(row, sums), name)
                        : Mono.just(row.isHeld() ? Occupancy.whole(row) : Occupancy.none(row)));
    }

    private Mono<Held> held(LockRow row, String claimId, String orClaimId) {
        return row.isShared() ? session.one("share_of", Held::read, claimId, orClaimId, row.now()) : Mono.empty();
    }

    /** Empty if so many others were served that it has to be asked again. */
    Mono<Optional<ClaimResult>> claim(LockRow row, Claim claim, boolean waited) {
        return held(row, claim.id(), claim.id())
                .flatMap(held -> extended(row, held, claim).thenReturn(granted(held.token(), claim)))
                .switchIfEmpty(Mono.defer(() -> occupied(row).flatMap(in -> asked(in, claim, waited))));
    }

    private static Optional<ClaimResult> granted(long token, Claim claim) {
        return Optional.of(TableLock.granted(token, claim));
    }

    private Mono<Long> extended(LockRow row, Held held, Claim claim) {
        long end = row.now() + Micros.of(claim.lease());
        return session.change("share_extend", claim.id(), end, held.claimId())
                .then(
                        end >= row.leaseEnd()
                                ? session.change("extend", end, name)
                                : session.change("shares_mark", List.of(name)));
    }

    private Mono<Optional<ClaimResult>> asked(Occupancy in, Claim claim, boolean waited) {
        LockRow row = in.row();
        if (!row.isWaitedFor() && !waited) {
            return placed(Turn.none(in, false), claim, false);
        }
        return session.change("revive", row.now() + Micros.of(claim.lease()), claim.id())
                .flatMap(stands -> {
                    boolean comes = stands == 0 && claim.mode() == Claim.Mode.QUEUE;
                    Mono<Turn> turn = Mono.defer(() -> served(in, claim.id()));
                    return (comes ? session.change("block", name).then(turn) : turn)
                            .flatMap(served -> placed(served, claim, stands > 0));
                });
    }

    private Mono<Optional<ClaimResult>> placed(Turn turn, Claim claim, boolean stands) {
        LockRow row = turn.after().row();
        Successor asking = Successor.of(claim, pushes.client());
        Optional<Long> token = turn.tokenOf(claim.id());
        if (token.isPresent()) {
            transfer.goOn(turn.mayGoOn());
            return written(turn.after(), turn.isWaitedFor()).thenReturn(granted(token.get(), claim));
        }
        if (!turn.isWaitedFor() && turn.after().fits(asking)) {
            return entered(turn.after(), asking).map(own -> granted(own, claim));
        }
        Mono<Void> kept = turn.served().isEmpty() ? Mono.empty() : written(turn.after(), turn.isWaitedFor());
        if (claim.mode() == Claim.Mode.TRY) {
            transfer.goOn(turn.mayGoOn());
            return kept.thenReturn(Optional.of(new ClaimResult.Busy()));
        }
        Mono<Void> queued = stands ? kept : kept.then(Mono.defer(() -> transfer.enqueue(row, asking)));
        Occupancy in = turn.after();
        return queued.thenReturn(
                turn.mayGoOn()
                        ? Optional.empty()
                        : Optional.of(TableLock.queued(in.firstEnd() - row.now(), in.token())));
    }

    /** No claim is before it. */
    private Mono<Long> entered(Occupancy in, Successor asking) {
        LockRow row = in.row();
        long token = in.nextToken();
        Occupancy after = in.with(asking, token);
        Object[] share = {
            asking.claimId(), name, asking.units(), token, asking.owner(), asking.client(), row.now() + asking.lease()
        };
        Mono<Void> recorded =
                row.isWatched() ? transfer.record(row, 2 * token, asking.owner(), token, asking.units()) : Mono.empty();
        return session.change("share_in", share)
                .then(recorded)
                .then(Mono.defer(() -> written(after, false)))
                .thenReturn(token);
    }

    /**
     * Grants the first of the queue for as long as they fit, {@code models/Shares.tla: NobodyOvertakes}. Who asks is
     * answered and needs no push.
     */
    private Mono<Turn> served(Occupancy in, String asking) {
        long now = in.row().now();
        return in.isWhole()
                ? Mono.just(Turn.none(in, true))
                : session.change("leave_dead", name, now)
                        .then(session.all("queue", Successor::read, name, now))
                        .flatMap(successors -> served(in, successors, asking));
    }

    private Mono<Turn> served(Occupancy in, List<Successor> successors, String asking) {
        if (successors.isEmpty()) {
            return Mono.just(Turn.none(in, false));
        }
        if (in.units() == 0 && successors.get(0).isWhole()) {
            return ownedBy(in, successors, asking);
        }
        long base = in.nextToken() - successors.get(0).place();
        List<Successor> served = new ArrayList<>();
        Occupancy after = in;
        for (Successor next : successors) {
            if (!after.fits(next) || served.size() == MOST) {
                break;
            }
            after = after.with(next, base + next.place());
            served.add(next);
        }
        boolean mayGoOn = served.size() == MOST && successors.size() > MOST;
        Turn turn = new Turn(after, served, base, served.size() < successors.size(), mayGoOn);
        return served.isEmpty() ? Mono.just(turn) : entered(turn, asking).thenReturn(turn);
    }

    private Mono<Turn> ownedBy(Occupancy in, List<Successor> successors, String asking) {
        Successor next = successors.get(0);
        return transfer.grant(in.row(), successors)
                .flatMap(token -> transfer.tellGrant(next, token).thenReturn(Turn.none(in.with(next, token), true)))
                .switchIfEmpty(Mono.defer(() -> served(in, asking)));
    }

    private Mono<Void> entered(Turn turn, String asking) {
        LockRow row = turn.after().row();
        List<String> ids = turn.served().stream().map(Successor::claimId).toList();
        turn.served().stream()
                .filter(next -> pushes.isFor(next.client()) && !next.claimId().equals(asking))
                .forEach(next -> transfer.tellOurs(next.claimId(), turn.base() + next.place()));
        turn.served().stream()
                .map(Successor::client)
                .filter(client -> !pushes.isFor(client))
                .forEach(transfer::tellOthers);
        boolean areOthers = turn.served().stream().anyMatch(next -> !pushes.isFor(next.client()));
        Mono<Void> told = areOthers && session.sql().dialect.notifies()
                ? session.all("tell_served", found -> true, pushes.client(), ids)
                        .then()
                : Mono.empty();
        Mono<Void> recorded = row.isWatched()
                ? session.change("record_served", row.now(), ids).then(transfer.announce())
                : Mono.empty();
        return session.change("share_served", turn.base(), row.now(), ids)
                .then(session.change("leave_all", ids))
                .then(told)
                .then(recorded);
    }

    /** Leaves in the row what is in use now, unless one claim owns the lock. */
    private Mono<Void> written(Occupancy in, boolean isWaitedFor) {
        if (in.isWhole()) {
            return Mono.empty();
        }
        Mono<Long> changed = in.units() == 0
                ? session.change("free", in.row().now(), name)
                : session.change("shared", in.token(), in.lastEnd(), isWaitedFor ? 1L : 0L, name);
        return changed.then();
    }

    Mono<Boolean> release(LockRow row, Claim claim) {
        return held(row, claim.id(), claim.id())
                .flatMap(held -> ended(row, held).thenReturn(true))
                .switchIfEmpty(Mono.defer(() -> left(row, claim.id()).thenReturn(false)));
    }

    Mono<Boolean> forceRelease(LockRow row, long token) {
        return session.one("share_with", Held::read, name, token, row.now())
                .flatMap(held -> transfer.tellLoss(held.client(), held.claimId())
                        .then(ended(row, held))
                        .thenReturn(true))
                .defaultIfEmpty(false);
    }

    private Mono<Occupancy> ended(LockRow row, Held held) {
        return session.change("share_out", held.claimId())
                .then(row.isWatched() ? announced(row, held) : Mono.just(row))
                .flatMap(this::occupied)
                .flatMap(this::passOn);
    }

    /** Numbers of events rise with the lock's token, so the end of an older share takes one. */
    private Mono<LockRow> announced(LockRow row, Held held) {
        long number = row.nextToken();
        return session.change("raise", number, name)
                .then(transfer.record(row, 2 * number + 1, "", held.token(), held.units()))
                .thenReturn(row.with(number));
    }

    /** Takes a claim out of the queue, which may let those behind it in, {@code models/Shares.tla: LeaverServes}. */
    Mono<Boolean> left(LockRow row, String claimId) {
        return session.change("leave", claimId).flatMap(left -> {
            boolean mayFit = left > 0 && (row.isShared() || !row.isHeld());
            return mayFit ? occupied(row).flatMap(this::passOn).thenReturn(true) : Mono.just(left > 0);
        });
    }

    /** Those that wait get what is free. */
    Mono<Occupancy> passOn(LockRow row) {
        return occupied(row).flatMap(in -> in.isWhole() ? Mono.just(in) : passOn(in));
    }

    /** The same when the owner of the whole is gone. */
    Mono<Occupancy> passOnFree(LockRow row) {
        return session.change("expire", name, Long.MAX_VALUE).then(passOn(Occupancy.none(row)));
    }

    private Mono<Occupancy> passOn(Occupancy in) {
        Mono<Turn> turn = in.row().isWaitedFor() ? served(in, "") : Mono.just(Turn.none(in, false));
        return turn.flatMap(served -> {
            transfer.goOn(served.mayGoOn());
            return written(served.after(), served.isWaitedFor()).thenReturn(served.after());
        });
    }

    Mono<Boolean> keep(LockRow row, Claim from, Claim to) {
        return held(row, from.id(), to.id())
                .flatMap(held -> extended(row, held, to).thenReturn(true))
                .defaultIfEmpty(false);
    }
}
