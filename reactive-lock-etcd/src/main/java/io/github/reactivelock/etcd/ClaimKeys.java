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
import io.github.reactivelock.spi.support.Together;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The keys of claims at the store: put, read, watched and deleted, each in one command that may be repeated. */
final class ClaimKeys {

    /** So many claims of this client on one lock look by themselves, and put their keys and look in one step. */
    static final int FEW = 16;

    private final Etcd etcd;
    private final KeyLayout names;
    private final Supplier<String> session;
    private final KeySlots places;
    /** By the lock's key, for the parts of its queue that are wanted. */
    private final Together<GetOption, KeyQueue.Index> looks;

    ClaimKeys(Etcd etcd, KeyLayout names, Supplier<String> session) {
        this.etcd = etcd;
        this.names = names;
        this.session = session;
        this.places = new KeySlots(session);
        this.looks = new Together<>("looking at a queue", Integer.MAX_VALUE, this::lookTogether);
    }

    private boolean isCrowd(String key) {
        return places.count(key) > FEW;
    }

    private Mono<KeyQueue.Index> look(String key, GetOption part) {
        return Mono.defer(() -> isCrowd(key) ? looks.ask(key, part) : look(key, () -> part));
    }

    private Mono<KeyQueue.Index> look(String key, Supplier<GetOption> part) {
        return etcd.get(names.lock(key), part)
                .map(found -> index(found, found.getHeader().getRevision()));
    }

    /** Etcd sorts the whole queue for each part of it, so that one look for many costs as much as for one. */
    private Mono<KeyQueue.Index> lookTogether(String key, Supplier<List<GetOption>> leaving) {
        AtomicReference<@Nullable GetOption> part = new AtomicReference<>();
        return look(key, () -> part.updateAndGet(known -> known == null ? Ranges.partFor(leaving.get()) : known));
    }

    /** What was read may be the end of the queue, backwards. */
    private static KeyQueue.Index index(GetResponse found, long readAt) {
        List<KeyValue> oldestFirst = found.getKvs().stream()
                .sorted(Comparator.comparingLong(KeyValue::getCreateRevision))
                .toList();
        return KeyQueue.of(oldestFirst).index(readAt, found.isMore());
    }

    /** The name of the marker of a lease. */
    ByteSequence marker(String lease) {
        return names.marker(session.get(), lease);
    }

    /** A place in the queue for a claim that has none yet. */
    ClaimState enter(Claim claim) {
        KeySlot place = places.take(claim.key());
        ByteSequence value = new ClaimValue(session.get(), claim.id(), claim.owner()).bytes();
        ByteSequence name = names.claim(place, claim.share());
        boolean isRecallable = claim.recallable() && claim.share().isWhole();
        return new ClaimState(claim, place, isRecallable ? KeyLayout.recallable(name) : name, value);
    }

    /**
     * A claim has left.
     *
     * @param gone whether its key is sure not to be there, now and later
     */
    void freePlace(ClaimState state, boolean gone) {
        if (gone) {
            places.giveBack(state.place);
        } else {
            places.discard(state.place);
        }
    }

    /** Whether the lock has no room for a claim that only tries; behind an owner that can be called back is some. */
    Mono<Boolean> isBusy(ClaimState state) {
        return look(state.claim.key(), beforeATry(state)).map(found -> !sawRoom(state, found));
    }

    private static GetOption beforeATry(ClaimState state) {
        return state.isWhole() ? Ranges.FIRST : Ranges.QUEUE;
    }

    /** If its own key is among those that are read, its place there has to be seen. */
    private static boolean sawRoom(ClaimState state, KeyQueue.Index found) {
        boolean isRoom = found.queue().admits(state.claim.share()) || found.canBeCalledBack();
        state.sawRoom(isRoom ? found.readAt() : 0);
        return isRoom || found.has(state);
    }

    /**
     * What became of a claim's put.
     *
     * @param revision at which its key was made, or no positive number if it is not there
     * @param position where that stands, which may have to be looked for
     */
    record Put(long revision, Mono<QueuePosition> position) {

        static final Put NONE = not(QueuePosition.NONE);

        static final Put NO_ROOM = not(QueuePosition.NO_ROOM);

        private static Put not(QueuePosition none) {
            return new Put(none.revision(), Mono.just(none));
        }

        boolean isThere() {
            return revision > 0;
        }
    }

    /**
     * Puts the claim's key unless it is there already, and that of one that only tries only while there is room for it.
     * Reads where it stands in the same step, but not in a crowd of this client, whose claims look together.
     */
    Mono<Put> put(ClaimState state, Lease lease) {
        boolean isCrowd = isCrowd(state.claim.key());
        PutOption bound = PutOption.builder().withLeaseId(lease.id).build();
        ByteSequence lock = names.lock(state.claim.key());
        boolean tries = state.claim.mode() == Claim.Mode.TRY;
        Cmp absent = new Cmp(state.name, Cmp.Op.EQUAL, CmpTarget.createRevision(0));
        AtomicInteger attempts = new AtomicInteger();
        return etcd.txn(Rank.OTHER, txn -> {
                    if (attempts.getAndIncrement() > 0) {
                        state.putAgain();
                    }
                    Txn guarded = tries
                            ? txn.If(absent, names.nothingSince(state.claim.key(), state.roomSeenAt()))
                            : txn.If(absent);
                    Op key = Op.put(state.name, state.value, bound);
                    Txn put = isCrowd
                            ? guarded.Then(key)
                            : guarded.Then(key, Op.get(lock, state.isWhole() ? Ranges.LAST_TWO : Ranges.QUEUE));
                    Op own = Op.get(state.name, GetOption.DEFAULT);
                    return tries ? put.Else(own, Op.get(lock, beforeATry(state))) : put.Else(own);
                })
                .flatMap(answer -> {
                    state.putAnswered();
                    if (answer.isSucceeded()) {
                        return Mono.just(justPut(state, answer));
                    }
                    GetResponse found = answer.getGetResponses().get(0);
                    if (found.getKvs().isEmpty()) {
                        return putIfRoom(state, lease, answer);
                    }
                    KeyValue there = found.getKvs().get(0);
                    // On a lease that is not kept alive any more it would go while the claim is believed in.
                    return there.getValue().equals(state.value) && there.getLease() == lease.id
                            ? Mono.just(new Put(there.getCreateRevision(), look(state, there.getCreateRevision())))
                            : replace(there, state, lease);
                });
    }

    private Put justPut(ClaimState state, TxnResponse answer) {
        long revision = answer.getHeader().getRevision();
        return new Put(
                revision,
                answer.getGetResponses().stream()
                        .findFirst()
                        .map(found -> Mono.just(position(state, index(found, revision), revision)))
                        .orElseGet(() -> look(state, revision)));
    }

    /** Others came after one that only tries had seen room, and may have left. */
    private Mono<Put> putIfRoom(ClaimState state, Lease lease, TxnResponse refused) {
        KeyQueue.Index found =
                index(refused.getGetResponses().get(1), refused.getHeader().getRevision());
        if (!sawRoom(state, found)) {
            return Mono.just(Put.NO_ROOM);
        }
        return state.putAgain() ? put(state, lease) : Mono.just(Put.NONE);
    }

    /**
     * A key was put late, for a claim that had this place before and has ended, or on a lease that is taken to be gone.
     */
    private Mono<Put> replace(KeyValue stray, ClaimState state, Lease lease) {
        return deleteIfSame(stray).then(Mono.defer(() -> state.putAgain() ? put(state, lease) : Mono.just(Put.NONE)));
    }

    /** Where the claim's key stands that was made at a revision. */
    Mono<QueuePosition> look(ClaimState state, long revision) {
        GetOption upTo = state.isWhole() ? Ranges.lastTwoUpTo(revision) : Ranges.queueUpTo(revision);
        return look(state.claim.key(), upTo).map(found -> position(state, found, revision));
    }

    private static QueuePosition position(ClaimState state, KeyQueue.Index found, long revision) {
        QueuePosition position = found.positionOf(state, revision);
        state.standsBehind(position.obstacles());
        return position;
    }

    /** The names of all claims on a lock. */
    Mono<KeyQueue.Index> queue(String key) {
        return look(key, Ranges.QUEUE);
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
                : deleteWaiting(lock, state).map(wasFirst -> new Deleted(wasFirst, List.of()));
    }

    /** While what it was seen to stand behind is there, it was not in, and the queue need not be read for that. */
    private Mono<Boolean> deleteWaiting(ByteSequence lock, ClaimState state) {
        List<KeyValue> obstacles = state.obstacles();
        if (obstacles.isEmpty()) {
            return delete(lock, state.name, state.value);
        }
        Cmp isPut = isPut(state.name, state.value);
        Cmp[] waits = Stream.concat(Stream.of(isPut), obstacles.stream().map(ClaimKeys::isThere))
                .toArray(Cmp[]::new);
        Op delete = Op.delete(state.name, DeleteOption.DEFAULT);
        Op otherwise = Op.txn(new Cmp[] {isPut}, new Op[] {queueBefore(lock, state.name), delete}, new Op[0]);
        return etcd.txn(Rank.END, txn -> txn.If(waits).Then(delete).Else(otherwise))
                .map(answer -> answer.getTxnResponses().stream().anyMatch(read -> wasIn(read, state.name)));
    }

    private static Op queueBefore(ByteSequence lock, ByteSequence name) {
        return Op.get(lock, KeyLayout.share(name).isWhole() ? Ranges.FIRST : Ranges.QUEUE);
    }

    /** Whether a claim was deleted, and was in before that, which was read in the same step. */
    private static boolean wasIn(TxnResponse deleted, ByteSequence name) {
        return deleted.isSucceeded()
                && KeyQueue.of(deleted.getGetResponses().get(0).getKvs()).holders().stream()
                        .anyMatch(kv -> kv.getKey().equals(name));
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

    /** The owner of a lock, if it can be called back. */
    Mono<KeyValue> recallable(String key) {
        return etcd.get(names.lock(key), Ranges.FIRST)
                .flatMapIterable(GetResponse::getKvs)
                .filter(KeyLayout::isRecallable)
                .next();
    }

    /** Tells the client of an owner that the lock is wanted, by a key that goes with the owner's lease. */
    Mono<Void> callBack(KeyValue owner) {
        ByteSequence recalls = KeyLayout.recalls(names.notice(KeyLayout.session(owner.getKey())));
        ByteSequence which = KeyLayout.bytes(owner.getCreateRevision() + " " + KeyLayout.tail(owner.getKey()));
        PutOption bound = PutOption.builder().withLeaseId(owner.getLease()).build();
        return etcd.txn(Rank.END, txn -> txn.If(isThere(owner)).Then(Op.put(recalls, which, bound)))
                .then();
    }

    /** Whether a claim of which nothing is known but its id is in. */
    Mono<Boolean> isIn(Claim claim) {
        return etcd.get(names.lock(claim.key()), claim.share().isWhole() ? Ranges.OWNER : Ranges.ALL)
                .map(answer -> KeyQueue.of(answer.getKvs()).holders().stream()
                        .anyMatch(kv -> ClaimValue.of(kv).claimId().equals(claim.id())));
    }

    /** Deletes the key of a claim of which nothing is known but its id; whether it was in. */
    Mono<Boolean> delete(Claim claim) {
        ByteSequence lock = names.lock(claim.key());
        return looks.ask(claim.key(), Ranges.ALL)
                .flatMapIterable(found -> found.queue().claims())
                .filter(kv -> ClaimValue.of(kv).claimId().equals(claim.id()))
                .next()
                .flatMap(kv -> delete(lock, kv.getKey(), kv.getValue()))
                .defaultIfEmpty(false);
    }

    /** No range is read, which costs etcd the more the longer the queue is. */
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
        return etcd.txn(
                        Rank.END,
                        txn -> txn.If(isPut(name, value))
                                .Then(queueBefore(lock, name), Op.delete(name, DeleteOption.DEFAULT)))
                .map(answer -> wasIn(answer, name));
    }

    private static Cmp isThere(KeyValue key) {
        return isThere(key.getKey(), key.getCreateRevision());
    }

    private static Cmp isThere(ByteSequence name, long revision) {
        return new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
    }

    /** The value holds the claim's id, so nothing is deleted that was put for another claim. */
    private static Cmp isPut(ByteSequence name, ByteSequence value) {
        return new Cmp(name, Cmp.Op.EQUAL, CmpTarget.value(value));
    }

    /** What the deletion of an owner's key found. */
    record Deleted(boolean wasFirst, List<KeyValue> next) {
        /** The create revision of a key if it is first in the queue now, or zero. */
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
        Cmp same = isThere(name, revision);
        return etcd.txn(Rank.END, txn -> txn.If(same).Then(Op.delete(name, DeleteOption.DEFAULT)))
                .then();
    }
}
