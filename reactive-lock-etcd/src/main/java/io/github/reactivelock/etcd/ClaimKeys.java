package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.Txn;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.etcd.jetcd.watch.WatchResponse;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.support.Departures.Rank;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The keys of claims at the store: put, read, watched and deleted, each in one command that may be repeated. */
final class ClaimKeys {

    private final Etcd etcd;
    private final KeyLayout names;
    private final Supplier<String> session;
    private final KeySlots places;

    ClaimKeys(Etcd etcd, KeyLayout names, Supplier<String> session) {
        this.etcd = etcd;
        this.names = names;
        this.session = session;
        this.places = new KeySlots(session);
    }

    /** The name of the marker of a lease. */
    ByteSequence marker(String lease) {
        return names.marker(session.get(), lease);
    }

    /** A place in the line for a claim that has none yet. */
    ClaimState enter(Claim claim) {
        KeySlot place = places.take(claim.key());
        ByteSequence value = new ClaimValue(session.get(), claim.id(), claim.owner()).bytes();
        return new ClaimState(claim, place, names.claim(place, claim.share()), value);
    }

    /**
     * A claim has left.
     *
     * @param gone whether its key is sure not to be there, now and later
     */
    void leave(ClaimState state, boolean gone) {
        if (gone) {
            places.giveBack(state.place);
        } else {
            places.discard(state.place);
        }
    }

    /** Whether the lock has no room for a claim that only tries. */
    Mono<Boolean> isBusy(ClaimState state) {
        return etcd.get(names.lock(state.claim.key()), beforeATry(state))
                .map(answer -> !sawRoom(state, answer, answer.getHeader().getRevision()));
    }

    private static GetOption beforeATry(ClaimState state) {
        return state.isWhole() ? Ranges.FIRST : Ranges.LINE;
    }

    /** If its own key is among those that are read, its place there has to be seen. */
    private static boolean sawRoom(ClaimState state, GetResponse before, long revision) {
        List<KeyValue> claims = before.getKvs();
        boolean isRoom = Line.of(claims).admits(state.claim.share());
        state.sawRoom(isRoom ? revision : 0);
        return isRoom || claims.stream().anyMatch(kv -> kv.getKey().equals(state.name));
    }

    /**
     * Puts the claim's key unless it is there already, and that of one that only tries only while there is room for it.
     */
    Mono<QueuePosition> put(ClaimState state, Lease lease) {
        PutOption bound = PutOption.builder().withLeaseId(lease.id).build();
        ByteSequence lock = names.lock(state.claim.key());
        boolean tries = state.claim.mode() == Claim.Mode.TRY;
        Cmp absent = new Cmp(state.name, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
        AtomicInteger attempts = new AtomicInteger();
        return etcd.txn(Rank.OTHER, txn -> {
                    if (attempts.getAndIncrement() > 0) {
                        boolean unused = state.putAgain();
                    }
                    Txn guarded = tries
                            ? txn.If(absent, names.nothingSince(state.claim.key(), state.roomSeenAt()))
                            : txn.If(absent);
                    Txn put = guarded.Then(
                            Op.put(state.name, state.value, bound),
                            Op.get(lock, state.isWhole() ? Ranges.LAST_TWO : Ranges.LINE));
                    Op own = Op.get(state.name, GetOption.DEFAULT);
                    return tries ? put.Else(own, Op.get(lock, beforeATry(state))) : put.Else(own);
                })
                .flatMap(answer -> {
                    state.putAnswered();
                    GetResponse found = answer.getGetResponses().get(0);
                    if (answer.isSucceeded()) {
                        return Mono.just(position(state, found));
                    }
                    if (found.getKvs().isEmpty()) {
                        return putIfRoom(state, lease, answer);
                    }
                    KeyValue there = found.getKvs().get(0);
                    // On a lease that is not kept alive any more it would go while the claim is believed in.
                    return there.getValue().equals(state.value) && there.getLease() == lease.id
                            ? look(state, there.getCreateRevision())
                            : replace(there, state, lease);
                });
    }

    /** Others came after one that only tries had seen room, and may have left. */
    private Mono<QueuePosition> putIfRoom(ClaimState state, Lease lease, TxnResponse refused) {
        if (!sawRoom(
                state, refused.getGetResponses().get(1), refused.getHeader().getRevision())) {
            return Mono.just(QueuePosition.NO_ROOM);
        }
        return state.putAgain() ? put(state, lease) : Mono.just(QueuePosition.NONE);
    }

    /**
     * A key was put late, for a claim that had this place before and has ended, or on a lease that is taken to be gone.
     */
    private Mono<QueuePosition> replace(KeyValue stray, ClaimState state, Lease lease) {
        return deleteIfSame(stray)
                .then(Mono.defer(() -> state.putAgain() ? put(state, lease) : Mono.just(QueuePosition.NONE)));
    }

    /** Where the claim's key stands that was made at a revision. */
    Mono<QueuePosition> look(ClaimState state, long revision) {
        GetOption upTo = state.isWhole() ? Ranges.lastTwoUpTo(revision) : Ranges.lineUpTo(revision);
        return etcd.get(names.lock(state.claim.key()), upTo).map(answer -> position(state, answer));
    }

    private static QueuePosition position(ClaimState state, GetResponse found) {
        return state.isWhole()
                ? QueuePosition.of(state.name, found)
                : Line.of(found.getKvs()).positionOf(state.name);
    }

    /** The names of all claims on a lock, oldest first. */
    Mono<GetResponse> line(String key) {
        return etcd.get(names.lock(key), Ranges.LINE);
    }

    /** A watch on all claims of a lock: emits when it has begun, and each time that it has seen some go. */
    Flux<WatchResponse> deletions(String key) {
        return deletions(names.lock(key), true);
    }

    /** As for all claims of a lock, of one by its name. */
    Flux<WatchResponse> deletions(ByteSequence name) {
        return deletions(name, false);
    }

    private Flux<WatchResponse> deletions(ByteSequence name, boolean isPrefix) {
        WatchOption option = WatchOption.builder()
                .isPrefix(isPrefix)
                .withCreateNotify(true)
                .withNoPut(true)
                .withRequireLeader(true)
                .build();
        return etcd.watch(name, option).filter(response -> response.isCreatedNotify() || isDeletion(response));
    }

    /**
     * Completes when a claim's key is gone. The watch begins with the present and then the key is read, because a watch
     * that begins in the past is served by etcd only every 100 ms until it has caught up.
     */
    Mono<Void> untilGone(KeyValue claim) {
        return deletions(claim.getKey())
                .concatMap(response -> response.isCreatedNotify() ? isGone(claim) : Mono.just(true))
                .filter(gone -> gone)
                .next()
                .then();
    }

    private Mono<Boolean> isGone(KeyValue claim) {
        return etcd.get(claim.getKey(), GetOption.DEFAULT)
                .map(found ->
                        found.getKvs().stream().noneMatch(kv -> kv.getCreateRevision() == claim.getCreateRevision()));
    }

    private static boolean isDeletion(WatchResponse response) {
        return response.getEvents().stream().anyMatch(event -> event.getEventType() == WatchEvent.EventType.DELETE);
    }

    /**
     * Deletes a claim's key, if it is there; whether it was in until now, and whether its successor is
     * there, which is first then.
     *
     * @param owned whether this claim is known to be in
     */
    Mono<Deleted> delete(ClaimState state, boolean owned) {
        ByteSequence lock = names.lock(state.claim.key());
        return owned
                ? deleteFirst(state, state.successor())
                : delete(lock, state.name, state.value).map(wasFirst -> new Deleted(wasFirst, List.of()));
    }

    /**
     * Leaves an owner's key, and so its place, to another claim with a lease of its own. The name and the create
     * revision stay, so for those behind it nothing has changed. False if the key is neither's.
     */
    Mono<Boolean> leaveTo(ClaimState owner, Claim kept, long lease) {
        ByteSequence value = new ClaimValue(session.get(), kept.id(), kept.owner()).bytes();
        PutOption bound = PutOption.builder().withLeaseId(lease).build();
        return etcd.txn(
                        Rank.HOLD,
                        txn -> txn.If(isPut(owner.name, owner.value))
                                .Then(Op.put(owner.name, value, bound))
                                .Else(Op.get(owner.name, GetOption.DEFAULT)))
                .map(answer -> answer.isSucceeded()
                        || answer.getGetResponses().get(0).getKvs().stream()
                                .anyMatch(kv -> kv.getValue().equals(value)));
    }

    /** Whether a claim of which nothing is known but its id is in. */
    Mono<Boolean> isIn(Claim claim) {
        return etcd.get(names.lock(claim.key()), claim.share().isWhole() ? Ranges.OWNER : Ranges.ALL)
                .map(answer -> Line.of(answer.getKvs()).holders().stream()
                        .anyMatch(kv -> ClaimValue.of(kv).claimId().equals(claim.id())));
    }

    /** Deletes the key of a claim of which nothing is known but its id; whether it was in. */
    Mono<Boolean> delete(Claim claim) {
        ByteSequence lock = names.lock(claim.key());
        return etcd.get(lock, Ranges.ALL)
                .flatMapIterable(GetResponse::getKvs)
                .filter(kv -> ClaimValue.of(kv).claimId().equals(claim.id()))
                .next()
                .flatMap(kv -> delete(lock, kv.getKey(), kv.getValue()))
                .defaultIfEmpty(false);
    }

    /** No range is read, which costs etcd the more the longer the line is. */
    private Mono<Deleted> deleteFirst(ClaimState owner, @Nullable ClaimState next) {
        Op delete = Op.delete(owner.name, DeleteOption.DEFAULT);
        AtomicInteger attempts = new AtomicInteger();
        return etcd.txn(Rank.END, txn -> {
                    attempts.incrementAndGet();
                    Txn guarded = txn.If(isPut(owner.name, owner.value));
                    return next == null
                            ? guarded.Then(delete)
                            : guarded.Then(delete, Op.get(next.name, GetOption.DEFAULT));
                })
                .map(answer -> new Deleted(
                        // An earlier attempt whose answer was lost may have deleted it already.
                        answer.isSucceeded() || attempts.get() > 1,
                        answer.getGetResponses().stream()
                                .flatMap(found -> found.getKvs().stream())
                                .toList()));
    }

    private Mono<Boolean> delete(ByteSequence lock, ByteSequence name, ByteSequence value) {
        boolean whole = KeyLayout.share(name).isWhole();
        Op line = Op.get(lock, whole ? Ranges.FIRST : Ranges.LINE);
        return etcd.txn(Rank.END, txn -> txn.If(isPut(name, value)).Then(line, Op.delete(name, DeleteOption.DEFAULT)))
                .map(answer -> answer.isSucceeded()
                        && Line.of(answer.getGetResponses().get(0).getKvs()).holders().stream()
                                .anyMatch(kv -> kv.getKey().equals(name)));
    }

    /** The value holds the claim's id, so nothing is deleted that was put for another claim. */
    private static Cmp isPut(ByteSequence name, ByteSequence value) {
        return new Cmp(name, Cmp.Op.EQUAL, CmpTarget.value(value));
    }

    /** What the deletion of an owner's key found. */
    record Deleted(boolean wasFirst, List<KeyValue> next) {
        /** The create revision of a key if it is first in line now, or zero. */
        long revisionIfFirst(ByteSequence name) {
            return next.stream()
                    .filter(kv -> kv.getKey().equals(name))
                    .mapToLong(KeyValue::getCreateRevision)
                    .sum();
        }
    }

    /** Deletes a key that a lease was seen to have, unless it turns out to be of use, or has another lease now. */
    Mono<Void> deleteStray(ByteSequence name, long lease, Predicate<String> inUse) {
        return etcd.get(names.withoutNamespace(name), GetOption.DEFAULT)
                .flatMapIterable(GetResponse::getKvs)
                .filter(kv -> kv.getLease() == lease && !inUse.test(KeyLayout.tail(kv.getKey())))
                .concatMap(this::deleteIfSame)
                .then();
    }

    private Mono<Void> deleteIfSame(KeyValue key) {
        return delete(key.getKey(), key.getCreateRevision());
    }

    /** Deletes the key of that name that was made at a revision. */
    Mono<Void> delete(ByteSequence name, long revision) {
        Cmp same = new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
        return etcd.txn(Rank.END, txn -> txn.If(same).Then(Op.delete(name, DeleteOption.DEFAULT)))
                .then();
    }
}
