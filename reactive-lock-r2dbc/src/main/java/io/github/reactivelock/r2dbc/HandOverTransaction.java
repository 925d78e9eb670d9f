package io.github.reactivelock.r2dbc;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.Share;
import io.r2dbc.spi.R2dbcRollbackException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import reactor.core.publisher.Mono;

/**
 * One transaction in which a lock may change hands. Its steps need the lock's row locked: no other adds a waiting
 * claim, serves one or takes a lock with waiting claims without that. Used by one command; not for several threads at
 * once.
 */
final class HandOverTransaction {

    private final SqlSession session;
    private final SignalSink pushes;
    private final String key;
    private final List<Signal> ours = new ArrayList<>();
    /** Clients to ring for when the end of this is certain. */
    private final Set<String> served = new HashSet<>();

    private boolean goesOn;
    private boolean announced;

    private HandOverTransaction(SqlSession session, SignalSink pushes, String key) {
        this.session = session;
        this.pushes = pushes;
        this.key = key;
    }

    /**
     * Runs a transaction that has a value; claims of this backend that it served get their grants when its end is
     * certain. When the answer to its end is lost, they ask.
     */
    static <T> Mono<T> of(SqlSession session, SignalSink pushes, String key, Work<T> work) {
        return Mono.defer(() -> {
            HandOverTransaction transfer = new HandOverTransaction(session, pushes, key);
            return session.bounded(session.transaction(transfer.locked().flatMap(row -> work.with(transfer, row))))
                    .doOnNext(done -> {
                        session.sql().noteHandedOn();
                        transfer.ours.forEach(pushes::push);
                        pushes.ring(transfer.served);
                        transfer.tellWatchers();
                    })
                    .doOnError(error -> transfer.ask())
                    .doOnCancel(transfer::ask)
                    .flatMap(done ->
                            transfer.goesOn ? served(session, pushes, key).thenReturn(done) : Mono.just(done));
        });
    }

    /**
     * Serves those who were left when one transaction had served as many as it may. What was done stays done: if this
     * is rolled back, those who wait ask by themselves.
     */
    private static Mono<Boolean> served(SqlSession session, SignalSink pushes, String key) {
        return of(
                        session,
                        pushes,
                        key,
                        (transfer, row) -> transfer.shares().passOn(row).thenReturn(true))
                .onErrorResume(R2dbcFailure::wasRolledBack, error -> {
                    pushes.push(new Signal.Recheck(key));
                    return Mono.just(false);
                });
    }

    private void ask() {
        if (!ours.isEmpty()) {
            pushes.push(new Signal.Recheck(key));
        }
        tellWatchers();
    }

    private void tellWatchers() {
        if (announced) {
            pushes.changed(key);
        }
    }

    /** Whether another transaction is to serve more of the queue. */
    void goOn(boolean mayFit) {
        goesOn = mayFit;
    }

    Sharing shares() {
        return new Sharing(this, session, pushes, key);
    }

    /** What a transaction does once the row is locked. */
    interface Work<T> {
        Mono<T> with(HandOverTransaction transfer, LockRow row);
    }

    /** Locks the lock's row for this transaction; a lock that was not used yet gets one. */
    private Mono<LockRow> locked() {
        Mono<LockRow> row = session.one("lock", found -> LockRow.read(found, 0), KeyLayout.bytes(key));
        return row.switchIfEmpty(Mono.defer(
                        () -> session.change("ensure", KeyLayout.bytes(key)).then(row)))
                .switchIfEmpty(Mono.error(() -> new R2dbcRollbackException("the row of '" + key
                        + "' was removed while it was asked for, or a trigger or a policy keeps it from the table")))
                .flatMap(this::now);
    }

    /** The row with the time after it was locked, or after any other wait: a lease must not begin before. */
    private Mono<LockRow> now(LockRow row) {
        return session.one("clock", found -> row.at(LockRow.number(found, "now_is")));
    }

    /** The claims that have waited longest and are alive, two at most. */
    Mono<List<Successor>> waiting(LockRow row) {
        return row.isWaitedFor() ? queue(row) : Mono.just(List.of());
    }

    /** The same, though the lock's row does not say that anybody waits. */
    Mono<List<Successor>> queue(LockRow row) {
        return session.all("next", Successor::read, KeyLayout.bytes(key), row.now());
    }

    /**
     * Makes the first of them the owner; empty if it stood in the queue and has left it meanwhile, which needs no
     * lock.
     */
    Mono<Long> grant(LockRow row, List<Successor> successors) {
        Successor next = successors.get(0);
        return next.place() == 0
                ? granted(row, successors)
                : session.change("leave", next.claimId())
                        .flatMap(left ->
                                left == 0 ? Mono.empty() : now(row).flatMap(later -> granted(later, successors)));
    }

    private Mono<Long> granted(LockRow row, List<Successor> successors) {
        Successor next = successors.get(0);
        long token = row.nextToken();
        Mono<Long> granted = session.change(
                        "grant",
                        next.claimId(),
                        next.owner(),
                        next.client(),
                        token,
                        row.now() + next.lease(),
                        successors.size() > 1 ? 1L : 0L,
                        KeyLayout.bytes(key))
                .thenReturn(token);
        return row.isWatched()
                ? granted.flatMap(done -> record(row, 2 * token, next.owner(), token, next.units())
                        .thenReturn(token))
                : granted;
    }

    /** Ends the owner's hold and gives the lock to the next, if anybody waits. */
    Mono<Void> passOn(LockRow row) {
        Mono<Void> announced = row.isHeld() && row.isWatched()
                ? record(row, 2 * row.token() + 1, "", row.token(), Share.WHOLE.units())
                : Mono.empty();
        return announced.then(Mono.defer(() -> served(row))).then();
    }

    private Mono<Long> served(LockRow row) {
        return waiting(row).flatMap(queue -> {
            if (queue.isEmpty()) {
                return session.change("free", row.now(), KeyLayout.bytes(key));
            }
            Successor next = queue.get(0);
            if (!next.isWhole()) {
                return shares().passOnFree(row).map(Occupancy::token);
            }
            return grant(row, queue)
                    .flatMap(token -> tellGrant(next, token).thenReturn(token))
                    .switchIfEmpty(Mono.defer(() -> served(row)));
        });
    }

    Mono<Void> tellGrant(Successor next, long token) {
        return tell(next.client(), new Signal.Grant(next.claimId(), FencingTokens.of(token)));
    }

    /** Tells the owner's client that its hold was ended by force. */
    Mono<Void> tellLoss(LockRow row) {
        return row.client() == null || row.claimId() == null ? Mono.empty() : tellLoss(row.client(), row.claimId());
    }

    Mono<Void> tellLoss(String client, String claimId) {
        return tell(client, new Signal.Suspect(claimId, LossReason.FORCED));
    }

    /** A client of others hears what it was given when that is certain, if the transaction does not tell it. */
    void tellOthers(String client) {
        served.add(client);
    }

    /** Tells a claim of this backend of its grant when that is certain. */
    void tellOurs(String claimId, long token) {
        ours.add(new Signal.Grant(claimId, FencingTokens.of(token)));
    }

    private Mono<Void> tell(String client, Signal signal) {
        if (pushes.isFor(client)) {
            ours.add(signal);
            return Mono.empty();
        }
        served.add(client);
        return pushes.tell(session, client, signal);
    }

    /** Takes a claim out of the queue, if it is there. */
    Mono<Void> leave(String claimId) {
        return session.change("leave", claimId).then();
    }

    /** Puts a claim at the end of the queue, or keeps it alive where it is. */
    Mono<Void> enqueue(LockRow row, Successor claim) {
        // The count of places is lost when an operator deletes the lock's row, and the places of who waits are not.
        return row.isWaitedFor()
                ? enqueue(row, claim, row.places() + 1)
                : session.one("places", found -> LockRow.number(found, "taken"), KeyLayout.bytes(key))
                        .flatMap(taken -> enqueue(row, claim, Math.max(row.places(), taken) + 1));
    }

    private Mono<Void> enqueue(LockRow row, Successor claim, long place) {
        return session.change("place", place, KeyLayout.bytes(key))
                .then(session.change(
                        "enqueue",
                        claim.claimId(),
                        KeyLayout.bytes(key),
                        place,
                        claim.owner(),
                        claim.client(),
                        claim.lease(),
                        row.now() + claim.lease(),
                        claim.units(),
                        claim.capacity()))
                .then();
    }

    Mono<Void> record(LockRow row, long number, String owner, long token, long units) {
        return session.change("record", KeyLayout.bytes(key), number, owner, row.now(), token, units)
                .then(announce());
    }

    /** Tells those who watch. */
    Mono<Void> announce() {
        announced = true;
        return pushes.announce(session, key);
    }
}
