package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;

/**
 * Claims and releases. Where the database has a statement or a script for all that a command needs, that is one round
 * trip. What it leaves open, and every command elsewhere, is a {@link HandOverTransaction}. When the answer to a
 * release is lost it is not known which claim it served, so the claims that wait here ask again.
 */
final class TableLock {

    /** How much of a lease a crash of the database may cost, if it forgets that the lock was given back. */
    private static final Duration MOST_FORGOTTEN = Duration.ofMinutes(1);

    private final Database database;
    private final SignalSink pushes;
    private final WaitingClaims waits;
    private final PerKeySequencer lanes;
    private final QuickClaims quick;
    private final Places places;
    /** Claims with a question that waits in a queue of ours, for its turn or for a connection. */
    private final Set<String> heldBack = ConcurrentHashMap.newKeySet();

    TableLock(Database database, SignalSink pushes, WaitingClaims waits) {
        this.database = database;
        this.pushes = pushes;
        this.waits = waits;
        this.lanes = new PerKeySequencer(database.timeout);
        this.quick = new QuickClaims(pushes, waits);
        this.places = new Places(database, claim -> heldBack.remove(claim.id()));
    }

    /** The answer to a claim, which calls the owner back if that can be: by statements more, and none otherwise. */
    Mono<ClaimResult> claim(Claim claim) {
        return (claim.mode() == Claim.Mode.TRY ? tried(claim) : answer(claim))
                .flatMap(answer -> answer instanceof ClaimResult.Queued queued && queued.behind() != null
                        ? recall(claim.key()).onErrorComplete().thenReturn(Recalls.told(queued))
                        : Mono.just(answer));
    }

    /** One that finds an owner which can be called back, and no claim that waits, waits too. */
    private Mono<ClaimResult> tried(Claim claim) {
        return Mono.defer(() -> waits.contains(claim)
                ? answer(Recalls.waiting(claim))
                : answer(claim)
                        .flatMap(answer -> answer instanceof ClaimResult.Queued
                                ? mayWait(claim)
                                        .flatMap(may -> may
                                                ? answer(Recalls.waiting(claim))
                                                : Mono.just(new ClaimResult.Busy()))
                                : Mono.just(answer)));
    }

    private Mono<Boolean> mayWait(Claim claim) {
        return pushes.tells() ? isWaitedFor(claim.key()).map(others -> !others) : Mono.just(false);
    }

    private Mono<Boolean> isWaitedFor(String key) {
        return database.run(session ->
                session.alone(session.one("waited", row -> LockRow.number(row, "found") > 0, KeyLayout.bytes(key))));
    }

    /** Tells the client of an owner that can be called back. */
    Mono<Void> recall(String key) {
        return database.run(session -> pushes.recall(session, key)).then();
    }

    boolean holdsBack(Claim claim) {
        return heldBack.contains(claim.id());
    }

    /**
     * Claims for one lock ask one after the other, but for those that keep their place: they ask together, and only
     * for what they have already.
     */
    private Mono<ClaimResult> answer(Claim claim) {
        return Mono.defer(() -> {
                    heldBack.add(claim.id());
                    return keepsItsPlace(claim)
                            ? kept(claim).switchIfEmpty(unlessWithdrawn(claim))
                            : inTurn(claim, asked(claim));
                })
                .doFinally(signal -> heldBack.remove(claim.id()));
    }

    private Mono<ClaimResult> inTurn(Claim claim, Mono<ClaimResult> asked) {
        Mono<ClaimResult> noted = asked.doOnNext(result -> {
            if (result instanceof ClaimResult.Granted && waits.contains(claim)) {
                pushes.doubt();
            }
            boolean isRefused = claim.mode() == Claim.Mode.TRY && result instanceof ClaimResult.Queued;
            waits.answered(claim, isRefused ? new ClaimResult.Busy() : result);
            quick.note(claim, result);
        });
        return Mono.defer(() -> waits.wasTold(claim) ? lanes.inTurn(claim.key(), noted) : lanes.claim(claim, noted));
    }

    /**
     * Its release may have had its turn since the claim asked for its place alone. That is no failure of a command,
     * with which the claims behind it in the lane would fail too.
     */
    private Mono<ClaimResult> unlessWithdrawn(Claim claim) {
        return inTurn(claim, Mono.defer(() -> waits.hasBegun(claim) ? asked(claim) : Mono.empty()))
                .switchIfEmpty(Mono.error(PerKeySequencer::withdrawn));
    }

    private void leaves(Claim claim) {
        waits.begin(claim);
        heldBack.remove(claim.id());
    }

    private boolean keepsItsPlace(Claim claim) {
        return waits.contains(claim) && claim.share().isWhole();
    }

    /** Empty if the claim has no place, or more has to be known. */
    private Mono<ClaimResult> kept(Claim claim) {
        return places.kept(claim).flatMap(seen -> seen.queued(claim));
    }

    private Mono<ClaimResult> asked(Claim claim) {
        return database.runAgain(session -> {
            leaves(claim);
            if (!claim.share().isWhole()) {
                return shared(session, claim);
            }
            return waits.contains(claim)
                    ? asked(session, claim)
                    : quick.answered(session, claim).switchIfEmpty(asked(session, claim));
        });
    }

    /** A share takes a transaction. So many may have been served before it that it asks again. */
    private Mono<ClaimResult> shared(SqlSession session, Claim claim) {
        return HandOverTransaction.of(
                        session,
                        pushes,
                        claim.key(),
                        (transfer, row) -> transfer.shares()
                                .claim(row, claim, waits.contains(claim))
                                .map(answer -> answer.map(given -> behind(row, claim, given))))
                .flatMap(answer -> answer.map(Mono::just).orElseGet(() -> shared(session, claim)));
    }

    private static ClaimResult behind(LockRow row, Claim claim, ClaimResult answer) {
        return answer instanceof ClaimResult.Granted || !row.isHeld()
                ? answer
                : Recalls.isRecallable(row.claimId())
                        ? Recalls.behind(row.claimId(), claim, queued(row.leaseEnd() - row.now(), row.token()))
                        : answer;
    }

    /** The full question: who owns the lock, who is next, and where this claim stands. */
    private Mono<ClaimResult> asked(SqlSession session, Claim claim) {
        return HandOverTransaction.of(session, pushes, claim.key(), (transfer, row) -> {
            if (row.isHeldBy(claim.id())) {
                return session.change("extend", row.now() + Micros.of(claim.lease()), KeyLayout.bytes(claim.key()))
                        .thenReturn(granted(row.token(), claim));
            }
            return row.isHeld()
                    ? behind(transfer, row, claim, row.leaseEnd() - row.now(), row.token(), row.claimId())
                    : free(transfer, row, claim);
        });
    }

    /**
     * A lock without a live owner belongs to the claim that has waited longest. That this claim waits is not always
     * to be seen in the lock's row: an operator may have deleted it, or the claim may have been silent for too long.
     */
    private Mono<ClaimResult> free(HandOverTransaction transfer, LockRow row, Claim claim) {
        boolean waited = waits.contains(claim);
        return (waited ? transfer.queue(row) : transfer.waiting(row)).flatMap(queue -> {
            List<Successor> successors = queue.isEmpty() ? List.of(Successor.of(claim, pushes.client())) : queue;
            Mono<Void> left = waited && queue.isEmpty() ? transfer.leave(claim.id()) : Mono.empty();
            return left.then(Mono.defer(() -> granted(transfer, row, claim, successors)));
        });
    }

    private Mono<ClaimResult> granted(
            HandOverTransaction transfer, LockRow row, Claim claim, List<Successor> successors) {
        Successor next = successors.get(0);
        if (!next.isWhole()) {
            return transfer.shares()
                    .passOnFree(row)
                    .flatMap(in -> behind(transfer, row, claim, in.lastEnd() - row.now(), in.token(), null));
        }
        return transfer.grant(row, successors)
                .flatMap(token -> next.claimId().equals(claim.id())
                        ? Mono.just(granted(token, claim))
                        : transfer.tellGrant(next, token)
                                .then(Mono.defer(
                                        () -> behind(transfer, row, claim, next.lease(), token, next.claimId()))))
                .switchIfEmpty(Mono.defer(() -> free(transfer, row, claim)));
    }

    private Mono<ClaimResult> behind(
            HandOverTransaction transfer,
            LockRow row,
            Claim claim,
            long left,
            long ownersToken,
            @Nullable String owner) {
        ClaimResult answer = Recalls.behind(owner, claim, queued(claim, left, ownersToken));
        return claim.mode() == Claim.Mode.TRY
                ? Mono.just(answer)
                : transfer.enqueue(row, Successor.of(claim, pushes.client())).thenReturn(answer);
    }

    /** It asks again when the owner's lease is over, or when its place has to be kept. */
    static ClaimResult.Queued queued(Claim claim, long left, long ownersToken) {
        return queued(Math.min(left, TimeUnit.NANOSECONDS.toMicros(Places.pause(claim.lease()))), ownersToken);
    }

    /** The row is locked, or was read by one statement, so the owner's token is the last that was given. */
    static ClaimResult.Queued queued(long left, long ownersToken) {
        return new ClaimResult.Queued(Micros.toDuration(left), null, FencingTokens.of(ownersToken));
    }

    static ClaimResult granted(long token, Claim claim) {
        if (token <= 0 || token > FencingTokens.HIGHEST_NUMBER) {
            throw new IllegalStateException("the token of '" + claim.key() + "' stands at " + token
                    + ", which is no number of a fencing token: is the database's clock right?");
        }
        return new ClaimResult.Granted(FencingTokens.of(token), claim.lease());
    }

    Mono<Boolean> release(Claim claim) {
        return Mono.defer(() -> {
            if (lanes.drop(claim) && !waits.hasBegun(claim)) {
                return Mono.just(false);
            }
            return lanes.inTurn(claim.key(), Mono.defer(() -> {
                boolean waited = waits.contains(claim);
                waits.remove(claim.id());
                return database.run(session -> released(session, claim, waited))
                        .doOnNext(owned -> waits.forget(claim))
                        .doOnError(error -> pushes.push(new Signal.Recheck(claim.key())));
            }));
        });
    }

    private Mono<Boolean> released(SqlSession session, Claim claim, boolean waited) {
        if (!claim.share().isWhole()) {
            return HandOverTransaction.of(
                    session,
                    pushes,
                    claim.key(),
                    (transfer, row) -> transfer.shares().release(row, claim));
        }
        return waited
                ? session.alone(session.change("leave_quietly", claim.id()))
                        .flatMap(rows -> rows > 0 ? Mono.just(false) : released(session, claim))
                : released(session, claim);
    }

    /** Puts another claim in the owner's place, in one statement for the whole. */
    Mono<Boolean> keep(Claim held, Claim kept) {
        return lanes.inTurn(held.key(), Mono.defer(() -> {
            waits.remove(held.id());
            return database.run(session ->
                            kept.share().isWhole() ? outlasted(session, held, kept) : keptShare(session, held, kept))
                    .doOnNext(owned -> waits.forget(held));
        }));
    }

    private Mono<Boolean> keptShare(SqlSession session, Claim held, Claim kept) {
        return HandOverTransaction.of(
                session,
                pushes,
                held.key(),
                (transfer, row) -> transfer.shares().keep(row, held, kept));
    }

    private static Mono<Boolean> outlasted(SqlSession session, Claim held, Claim kept) {
        return session.alone(session.change(
                        "outlast",
                        kept.id(),
                        Micros.of(kept.lease()),
                        KeyLayout.bytes(held.key()),
                        held.id(),
                        kept.id()))
                .map(rows -> rows > 0);
    }

    private Mono<Boolean> released(SqlSession session, Claim claim) {
        byte[] key = KeyLayout.bytes(claim.key());
        Mono<Boolean> handed =
                Mono.defer(() -> handed(session, key, claim)).map(next -> next.tell(pushes, waits, claim.key()));
        Mono<Boolean> freed = session.sql().knows("hand") && waits.isContended(claim.key())
                ? Mono.empty()
                : session.alone(session.change(release(session, claim), key, claim.id()))
                        .flatMap(rows -> rows > 0 ? Mono.just(true) : Mono.empty());
        return freed.switchIfEmpty(handed).switchIfEmpty(ended(session, claim));
    }

    private static String release(SqlSession session, Claim claim) {
        boolean mayBeForgotten =
                session.sql().knows("release_unflushed") && claim.lease().compareTo(MOST_FORGOTTEN) <= 0;
        return mayBeForgotten ? "release_unflushed" : "release";
    }

    private Mono<Handed> handed(SqlSession session, byte[] key, Claim claim) {
        return session.inOne("hand", Handed::read, key, claim.id(), pushes.client());
    }

    private Mono<Boolean> ended(SqlSession session, Claim claim) {
        return HandOverTransaction.of(session, pushes, claim.key(), (transfer, row) -> {
            Mono<?> end = claim.id().equals(row.claimId())
                    ? transfer.passOn(row)
                    : transfer.shares().left(row, claim.id());
            return end.thenReturn(row.isHeldBy(claim.id()));
        });
    }

    Mono<Boolean> forceRelease(String key, long fencingToken) {
        return lanes.inTurn(
                key,
                database.run(session -> HandOverTransaction.of(
                                session,
                                pushes,
                                key,
                                (transfer, row) -> forced(transfer, row, FencingTokens.number(fencingToken))))
                        .doOnError(error -> pushes.push(new Signal.Recheck(key))));
    }

    private static Mono<Boolean> forced(HandOverTransaction transfer, LockRow row, long token) {
        if (row.isShared()) {
            return transfer.shares().forceRelease(row, token);
        }
        return row.isHeld() && row.token() == token
                ? transfer.tellLoss(row).then(transfer.passOn(row)).thenReturn(true)
                : Mono.just(false);
    }
}
