package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.etcd.jetcd.options.DeleteOption;
import io.etcd.jetcd.options.GetOption;
import io.etcd.jetcd.options.PutOption;
import io.etcd.jetcd.options.WatchOption;
import io.etcd.jetcd.watch.WatchEvent;
import io.github.reactivelock.spi.Claim;
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

    /** Deletes the owner's key; whether it was there until now. */
    Mono<Boolean> deleteOwner(Claim claim) {
        AtomicInteger attempts = new AtomicInteger();
        return etcd.txn(txn -> {
                    attempts.incrementAndGet();
                    return txn.Then(Op.delete(names.claim(claim), DeleteOption.DEFAULT));
                })
                // An earlier attempt whose answer was lost may have deleted it already.
                .map(answer -> hasDeleted(answer) || attempts.get() > 1);
    }

    /** Deletes a claim's key, if it is there; whether it was the owner until now. */
    Mono<Boolean> delete(Claim claim) {
        ByteSequence name = names.claim(claim);
        return etcd.txn(txn ->
                        txn.Then(Op.get(names.lock(claim.key()), Ranges.FIRST), Op.delete(name, DeleteOption.DEFAULT)))
                .map(answer -> hasDeleted(answer)
                        && answer.getGetResponses()
                                .get(0)
                                .getKvs()
                                .get(0)
                                .getKey()
                                .equals(name));
    }

    /** Deletes a key that a lease was seen to have. */
    Mono<Void> deleteStray(ByteSequence name) {
        ByteSequence known = names.withoutNamespace(name);
        return etcd.txn(txn -> txn.Then(Op.delete(known, DeleteOption.DEFAULT))).then();
    }

    private static boolean hasDeleted(TxnResponse answer) {
        return answer.getDeleteResponses().get(0).getDeleted() > 0;
    }
}
