package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.GetResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.github.reactivelock.spi.Claim;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;

/** The keys of claims at the store: put, read, watched and deleted, each in one command that may be repeated. */
final class ClaimKeys {

    private final Etcd etcd;
    private final Names names;
    private final String session;

    ClaimKeys(Etcd etcd, Names names, String session) {
        this.etcd = etcd;
        this.names = names;
        this.session = session;
    }

    ByteSequence name(Claim claim) {
        return names.claim(claim);
    }

    /** Whether a claim on the lock is there that is not this one. */
    Mono<Boolean> isBusy(Claim claim) {
        ByteSequence name = names.claim(claim);
        return etcd.get(names.lock(claim.key()), Ranges.FIRST)
                .map(answer ->
                        answer.getKvs().stream().anyMatch(kv -> !kv.getKey().equals(name)));
    }

    /** Puts the claim's key unless it is there already. */
    Mono<Line> put(Claim claim, Lease lease) {
        ByteSequence name = names.claim(claim);
        ByteSequence value = Names.bytes(session + " " + claim.owner());
        PutOption bound = PutOption.builder().withLeaseId(lease.id).build();
        return etcd.txn(txn -> txn.If(new Cmp(name, Cmp.Op.EQUAL, CmpTarget.createRevision(0)))
                        .Then(Op.put(name, value, bound), Op.get(names.lock(claim.key()), Ranges.LAST_TWO))
                        .Else(Op.get(name, GetOption.DEFAULT)))
                .flatMap(answer -> {
                    Line line = Line.of(name, answer.getGetResponses().get(0));
                    return answer.isSucceeded() ? Mono.just(line) : look(claim, line.revision());
                });
    }

    /** Where the claim's key stands that was made at a revision. */
    Mono<Line> look(Claim claim, long revision) {
        ByteSequence name = names.claim(claim);
        return etcd.get(names.lock(claim.key()), Ranges.lastTwoUpTo(revision)).map(answer -> Line.of(name, answer));
    }

    /** Completes when a key is deleted that was there at a revision. */
    Mono<Void> untilGone(ByteSequence name, long readAt) {
        WatchOption option = WatchOption.builder()
                .withRevision(readAt + 1)
                .withNoPut(true)
                .withRequireLeader(true)
                .build();
        return etcd.watch(name, option)
                .filter(response -> response.getEvents().stream()
                        .anyMatch(event -> event.getEventType() == WatchEvent.EventType.DELETE))
                .next()
                .then();
    }

    /**
     * Deletes a claim's key, if it is there; whether it was the first in line until now, and who is then.
     *
     * @param owned whether this claim is known to be first
     */
    Mono<Deleted> delete(Claim claim, boolean owned) {
        ByteSequence name = names.claim(claim);
        ByteSequence lock = names.lock(claim.key());
        Op delete = Op.delete(name, DeleteOption.DEFAULT);
        Op first = Op.get(lock, Ranges.FIRST);
        AtomicInteger attempts = new AtomicInteger();
        return etcd.txn(txn -> {
                    attempts.incrementAndGet();
                    return owned ? txn.Then(delete, first) : txn.Then(first, delete, first);
                })
                .map(answer -> {
                    List<GetResponse> firsts = answer.getGetResponses();
                    boolean deleted = answer.getDeleteResponses().get(0).getDeleted() > 0;
                    boolean wasFirst = owned
                            // An earlier attempt whose answer was lost may have deleted it already.
                            ? deleted || attempts.get() > 1
                            : deleted && isFirst(firsts.get(0), name);
                    return new Deleted(wasFirst, firsts.get(firsts.size() - 1).getKvs());
                });
    }

    /** What a deletion found. */
    record Deleted(boolean wasFirst, List<KeyValue> next) {
        /** The create revision of a key if it is first in line now, or zero. */
        long revisionIfFirst(ByteSequence name) {
            return next.stream()
                    .filter(kv -> kv.getKey().equals(name))
                    .mapToLong(KeyValue::getCreateRevision)
                    .sum();
        }
    }

    private static boolean isFirst(GetResponse line, ByteSequence name) {
        return line.getKvs().get(0).getKey().equals(name);
    }

    /** Deletes a key that a lease was seen to have. */
    Mono<Void> deleteStray(ByteSequence name) {
        ByteSequence known = names.withoutNamespace(name);
        return etcd.txn(txn -> txn.Then(Op.delete(known, DeleteOption.DEFAULT))).then();
    }
}
