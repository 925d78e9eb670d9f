package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.LeaseOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.github.reactivelock.spi.LockPage;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

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
        return etcd.txn(txn -> txn.Then(Op.get(lock, Ranges.SHOWN), Op.get(lock, Ranges.COUNT)))
                .flatMap(answer -> {
                    List<KeyValue> line = answer.getGetResponses().get(0).getKvs();
                    long count = answer.getGetResponses().get(1).getCount();
                    return line.isEmpty() ? Mono.just(new LockInfo.Free(key)) : held(key, line, count - 1);
                });
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
    private Mono<LockInfo> held(String key, List<KeyValue> line, long waiters) {
        KeyValue owner = line.get(0);
        List<LockInfo.Waiting> queue = line.stream()
                .skip(1)
                .limit(LockInfo.Held.MOST_SHOWN)
                .map(claim -> new LockInfo.Waiting(ClaimValue.of(claim).owner(), null))
                .toList();
        return etcd.timeToLive(owner.getLease(), LeaseOption.DEFAULT)
                .map(lease -> new LockInfo.Held(
                        key,
                        ClaimValue.of(owner).owner(),
                        ClaimRegistry.token(owner.getCreateRevision()),
                        Duration.ofSeconds(Math.max(0, lease.getTTL())),
                        waiters,
                        null,
                        queue));
    }

    Flux<LockEvent> events(String key) {
        return Flux.defer(() -> etcd.get(names.lock(key), Ranges.ALL).flatMapMany(answer -> {
                    QueuePosition line = new QueuePosition(key);
                    answer.getKvs().forEach(line::enter);
                    Mono<LockInfo> now = answer.getKvs().isEmpty()
                            ? Mono.just(new LockInfo.Free(key))
                            : held(key, answer.getKvs(), answer.getKvs().size() - 1L);
                    WatchOption option = WatchOption.builder()
                            .isPrefix(true)
                            .withRevision(answer.getHeader().getRevision() + 1)
                            .withRequireLeader(true)
                            .build();
                    return Flux.concat(
                            now.map(LockEvent.Snapshot::new),
                            etcd.watch(names.lock(key), option)
                                    .flatMapIterable(response -> line.follow(response.getEvents())));
                }))
                .retryWhen(Retry.backoff(Long.MAX_VALUE, PAUSE)
                        .scheduler(DriverThreads.timer())
                        .maxBackoff(LONGEST_PAUSE)
                        .transientErrors(true)
                        .filter(error -> error instanceof EtcdFailure failure && failure.isTransient()))
                .cast(LockEvent.class);
    }

    /** Deletes the owner's key if it is the one of that token, and tells the owner's client in the same step. */
    Mono<Boolean> forceRelease(String key, long fencingToken) {
        return etcd.get(names.lock(key), Ranges.OWNER).flatMap(answer -> {
            List<KeyValue> found = answer.getKvs();
            return found.isEmpty() || ClaimRegistry.token(found.get(0).getCreateRevision()) != fencingToken
                    ? Mono.just(false)
                    : end(key, fencingToken, found.get(0));
        });
    }

    private Mono<Boolean> end(String key, long fencingToken, KeyValue owner) {
        AtomicInteger attempts = new AtomicInteger();
        return etcd.txn(txn -> {
                    attempts.incrementAndGet();
                    return txn.If(madeAt(owner)).Then(end(owner));
                })
                // An earlier attempt whose answer was lost may have deleted it already.
                .map(done -> done.isSucceeded() || attempts.get() > 1)
                .onErrorResume(
                        error -> error instanceof EtcdFailure failure && failure.isLeaseGone(),
                        error -> forceRelease(key, fencingToken));
    }

    private static Cmp madeAt(KeyValue key) {
        return new Cmp(key.getKey(), Cmp.Op.EQUAL, CmpTarget.createRevision(key.getCreateRevision()));
    }

    private Op[] end(KeyValue owner) {
        List<Op> steps = new ArrayList<>();
        steps.add(Op.delete(owner.getKey(), DeleteOption.DEFAULT));
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

    /** The claims on a lock as a watch has shown them so far. Used by one subscription. */
    private static final class QueuePosition {

        private final String key;
        private final TreeMap<Long, KeyValue> claims = new TreeMap<>();
        private final Map<ByteSequence, Long> revisions = new HashMap<>();

        QueuePosition(String key) {
            this.key = key;
        }

        void enter(KeyValue claim) {
            claims.put(claim.getCreateRevision(), claim);
            revisions.put(claim.getKey(), claim.getCreateRevision());
        }

        List<LockEvent> follow(List<WatchEvent> changes) {
            List<LockEvent> events = new ArrayList<>();
            for (WatchEvent change : changes) {
                long before = owner();
                if (change.getEventType() == WatchEvent.EventType.PUT) {
                    enter(change.getKeyValue());
                } else {
                    leave(change.getKeyValue().getKey());
                }
                if (owner() != before) {
                    tell(before, events);
                }
            }
            return events;
        }

        private void leave(ByteSequence name) {
            Long revision = revisions.remove(name);
            if (revision != null) {
                claims.remove(revision);
            }
        }

        private long owner() {
            return claims.isEmpty() ? 0 : claims.firstKey();
        }

        private void tell(long before, List<LockEvent> events) {
            if (before != 0) {
                events.add(new LockEvent.Released(key, ClaimRegistry.token(before)));
            }
            Map.@Nullable Entry<Long, KeyValue> first = claims.firstEntry();
            if (first != null) {
                events.add(new LockEvent.Acquired(
                        key, ClaimValue.of(first.getValue()).owner(), ClaimRegistry.token(first.getKey())));
            }
        }
    }
}
