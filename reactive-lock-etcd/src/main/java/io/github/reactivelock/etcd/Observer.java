package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.spi.support.EndlessRetry;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Looking at a lock without a claim of one's own: its state, its changes, and taking it from its owner. */
final class Observer {

    private static final Duration PAUSE = Duration.ofMillis(100);
    private static final Duration LONGEST_PAUSE = Duration.ofSeconds(1);
    private static final int AT_ONCE = 16;

    private final Etcd etcd;
    private final KeyLayout names;

    Observer(Etcd etcd, KeyLayout names) {
        this.etcd = etcd;
        this.names = names;
    }

    Mono<LockInfo> inspect(String key) {
        ByteSequence lock = names.lock(key);
        return etcd.txn(Rank.LOOK, txn -> txn.Then(Op.get(lock, Ranges.SHOWN), Op.get(lock, Ranges.COUNT)))
                .flatMap(answer -> {
                    List<KeyValue> queue = answer.getGetResponses().get(0).getKvs();
                    long count = answer.getGetResponses().get(1).getCount();
                    return queue.isEmpty() || isWhole(queue.get(0)) || queue.size() == count
                            ? state(key, queue, count)
                            : etcd.get(lock, Ranges.ALL)
                                    .map(GetResponse::getKvs)
                                    .flatMap(all -> state(key, all, all.size()));
                });
    }

    /** A version is never below zero; a transaction is checked for what it would do, too. */
    Mono<Void> probe(String key) {
        ByteSequence never = names.notice(key);
        return etcd.txn(
                        Rank.LOOK,
                        txn -> txn.If(new Cmp(never, Cmp.Op.LESS, CmpTarget.version(0)))
                                .Then(Op.put(never, ByteSequence.EMPTY, PutOption.DEFAULT))
                                .Else(Op.get(names.lock(key), Ranges.COUNT)))
                .then();
    }

    private static boolean isWhole(KeyValue claim) {
        return KeyLayout.share(claim.getKey()).isWhole();
    }

    /** By the first claims of a queue, if one owns the whole, or else by all. */
    private Mono<LockInfo> state(String key, List<KeyValue> claims, long count) {
        if (claims.isEmpty()) {
            return Mono.just(new LockInfo.Free(key));
        }
        return isWhole(claims.get(0)) ? held(key, claims, count - 1) : shared(key, KeyQueue.of(claims));
    }

    private Mono<LockInfo> shared(String key, KeyQueue queue) {
        List<KeyValue> newestFirst = new ArrayList<>(queue.holders());
        Collections.reverse(newestFirst);
        List<KeyValue> shown =
                newestFirst.stream().limit(LockInfo.Held.MOST_SHOWN).toList();
        return Flux.fromStream(shown.stream().map(KeyValue::getLease).distinct())
                .flatMap(lease -> remaining(lease).map(left -> Map.entry(lease, left)), AT_ONCE)
                .collectMap(Map.Entry::getKey, Map.Entry::getValue)
                .map(leases -> {
                    List<LockInfo.Holder> first = shown.stream()
                            .map(claim -> holder(claim, leases.getOrDefault(claim.getLease(), Duration.ZERO)))
                            .toList();
                    LockInfo.Holder newest = first.get(0);
                    return new LockInfo.Held(
                            key,
                            newest.owner(),
                            newest.fencingToken(),
                            newest.remaining(),
                            queue.waiting().size(),
                            null,
                            waiting(queue.waiting()),
                            new LockInfo.Shares((int) Math.min(queue.units(), Integer.MAX_VALUE), queue.in(), first));
                });
    }

    private static LockInfo.Holder holder(KeyValue claim, Duration remaining) {
        return new LockInfo.Holder(
                ClaimValue.of(claim).owner(),
                KeyLayout.share(claim.getKey()).units(),
                ClaimRegistry.token(claim.getCreateRevision()),
                remaining);
    }

    private static List<LockInfo.Waiting> waiting(List<KeyValue> waiting) {
        return waiting.stream()
                .limit(LockInfo.Held.MOST_SHOWN)
                .map(claim -> new LockInfo.Waiting(ClaimValue.of(claim).owner(), null))
                .toList();
    }

    private Mono<Duration> remaining(long lease) {
        return etcd.timeToLive(lease, LeaseOption.DEFAULT)
                .map(answer -> Duration.ofSeconds(Math.max(0, answer.getTTL())));
    }

    /** Where the last name was, and then one of a single lock: each is asked about by itself. */
    Mono<LockPage> list(String prefix, String from) {
        ByteSequence begin = from.isEmpty() ? names.locks(prefix) : KeyLayout.bytes(from + "\0");
        return etcd.get(begin, Ranges.names(names.endOfLocks(prefix))).flatMap(answer -> {
            List<KeyValue> claims = answer.getKvs();
            String next = claims.size() < Ranges.PART
                    ? ""
                    : claims.get(claims.size() - 1).getKey().toString();
            return Flux.fromStream(claims.stream()
                            .map(claim -> KeyLayout.key(claim.getKey()))
                            .filter(key -> !key.isEmpty() && key.startsWith(prefix))
                            .distinct())
                    .flatMap(this::inspect, AT_ONCE)
                    .ofType(LockInfo.Held.class)
                    .collectList()
                    .map(held -> new LockPage(held, next));
        });
    }

    /** Since when a claim is there is not known: etcd counts its changes and does not date them. */
    private Mono<LockInfo> held(String key, List<KeyValue> queue, long waiters) {
        KeyValue owner = queue.get(0);
        return remaining(owner.getLease())
                .map(left -> new LockInfo.Held(
                        key,
                        ClaimValue.of(owner).owner(),
                        ClaimRegistry.token(owner.getCreateRevision()),
                        left,
                        waiters,
                        null,
                        waiting(queue.subList(1, queue.size())),
                        null,
                        KeyLayout.isRecallable(owner)));
    }

    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> etcd.get(names.lock(key), Ranges.ALL).flatMapMany(answer -> {
                    Events seen = new Events(key, answer.getKvs());
                    Mono<LockInfo> now =
                            state(key, answer.getKvs(), answer.getKvs().size());
                    WatchOption option = WatchOption.builder()
                            .isPrefix(true)
                            .withRevision(answer.getHeader().getRevision() + 1)
                            .withRequireLeader(true)
                            .build();
                    return Flux.concat(
                            now.map(LockEvent.Snapshot::new),
                            etcd.watch(names.lock(key), option)
                                    .flatMapIterable(response -> seen.follow(response.getEvents())));
                }))
                .retryWhen(EndlessRetry.after(PAUSE, LONGEST_PAUSE)
                        .filter(error -> error instanceof EtcdFailure failure && failure.isTransient()))
                .cast(LockEvent.class);
    }

    /** Deletes the key of the hold of that token, if there is one, and tells the holder's client in the same step. */
    Mono<Boolean> forceRelease(String key, long fencingToken) {
        ByteSequence lock = names.lock(key);
        return etcd.get(lock, Ranges.OWNER)
                .map(GetResponse::getKvs)
                .flatMap(first -> first.isEmpty() || isWhole(first.get(0))
                        ? Mono.just(first)
                        : etcd.get(lock, Ranges.ALL).map(GetResponse::getKvs))
                .flatMapIterable(claims -> KeyQueue.of(claims).holders())
                .filter(holder -> ClaimRegistry.token(holder.getCreateRevision()) == fencingToken)
                .next()
                .flatMap(holder -> force(key, fencingToken, holder))
                .defaultIfEmpty(false);
    }

    /** A full etcd takes no notice, but the deletion: the owner then learns of it when its keys are listed. */
    private Mono<Boolean> force(String key, long fencingToken, KeyValue owner) {
        Op delete = Op.delete(owner.getKey(), DeleteOption.DEFAULT);
        AtomicBoolean doubt = new AtomicBoolean();
        return force(owner, doubt, notified(owner, delete))
                .onErrorResume(
                        error -> error instanceof EtcdFailure failure && failure.isLeaseGone(),
                        error -> forceRelease(key, fencingToken))
                .onErrorResume(
                        error -> error instanceof EtcdFailure failure && failure.isFull(),
                        error -> force(owner, doubt, delete))
                // An earlier attempt whose answer was lost may have deleted it, or its holder has.
                .flatMap(done -> done || !doubt.get()
                        ? Mono.just(done)
                        : Mono.error(EtcdFailure.unclear(etcd.server(), "'" + key + "' was still held")));
    }

    private Mono<Boolean> force(KeyValue owner, AtomicBoolean doubt, Op... steps) {
        return etcd.txn(Rank.LOOK, txn -> txn.If(madeAt(owner)).Then(steps), () -> doubt.set(true))
                .map(TxnResponse::isSucceeded);
    }

    private static Cmp madeAt(KeyValue key) {
        return new Cmp(key.getKey(), Cmp.Op.EQUAL, CmpTarget.createRevision(key.getCreateRevision()));
    }

    private Op[] notified(KeyValue owner, Op delete) {
        List<Op> steps = new ArrayList<>();
        steps.add(delete);
        ClaimValue claim = ClaimValue.of(owner);
        if (!claim.session().isEmpty() && owner.getLease() != 0) {
            // Bound to the owner's lease, so that it does not stay when the client is gone.
            steps.add(Op.put(
                    names.notice(claim.session()),
                    KeyLayout.bytes(claim.claimId()),
                    PutOption.builder().withLeaseId(owner.getLease()).build()));
        }
        return steps.toArray(Op[]::new);
    }
}
