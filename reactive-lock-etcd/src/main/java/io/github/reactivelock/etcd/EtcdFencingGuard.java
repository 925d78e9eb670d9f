package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.KeyValue;
import io.etcd.jetcd.kv.TxnResponse;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.etcd.jetcd.op.Op;
import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.state.StaleTokenException;
import java.util.List;
import reactor.core.publisher.Mono;

/**
 * Lets etcd itself refuse a write by a former holder. A guarded write is one transaction that changes nothing once the
 * hold is gone, however late it arrives:
 *
 * <pre>{@code
 * lock.withLock("order:42", held ->
 *     guard.write("order:42", held.fencingToken(), Op.put(order, paid, PutOption.DEFAULT)));
 * }</pre>
 *
 * <p>It compares with the claim that etcd knows, and flows of one process may pass a claim on among themselves. Where
 * the guard must distinguish such flows too, build the client with {@code passBudget(0, …)}, which gives every hold a
 * claim of its own. A guard may be used in another process than the holder's. It needs no closing, and works for as
 * long as the backend that made it is open.
 */
public final class EtcdFencingGuard {

    private final Etcd etcd;
    private final KeyLayout names;

    EtcdFencingGuard(Etcd etcd, KeyLayout names) {
        this.etcd = etcd;
        this.names = names;
    }

    /**
     * Changes etcd in one transaction, if the lock is still held. Cold; each subscription is a write of its own. A
     * transaction without an answer is sent again, so each change should have the same effect when it is made twice, as
     * {@code put} and {@code delete} have.
     *
     * @param key the lock's key
     * @param fencingToken the token of the hold that allows the write
     * @param changes what to do; of other keys than those with the backend's prefix
     * @return what etcd answered; {@link StaleTokenException} if the hold is gone, with the token of the owner, or the
     *     lowest that the next owner can have; an error if etcd could not be asked
     */
    public Mono<TxnResponse> write(String key, long fencingToken, Op... changes) {
        ByteSequence lock = names.lock(key);
        return held(key, fencingToken)
                .flatMap(held ->
                        etcd.txn(Rank.OTHER, txn -> txn.If(held).Then(changes).Else(Op.get(lock, Ranges.FIRST))))
                .flatMap(answer -> answer.isSucceeded()
                        ? Mono.just(answer)
                        : Mono.error(new StaleTokenException(
                                "what the lock '" + key + "' protects",
                                fencingToken,
                                newest(answer.getGetResponses().get(0).getKvs(), fencingToken))))
                .onErrorStop();
    }

    private static long newest(List<KeyValue> owner, long fencingToken) {
        long next = FencingTokens.of(FencingTokens.number(fencingToken) + 1);
        return owner.isEmpty()
                ? next
                : Math.max(next, ClaimRegistry.token(owner.get(0).getCreateRevision()));
    }

    /**
     * A compare that holds as long as a hold does, for transactions that have compares of their own. Cold; each
     * subscription asks etcd once for the name of the claim's key, and the compare can then be used for any number of
     * transactions.
     *
     * @param key the lock's key
     * @param fencingToken the token of the hold
     * @return never empty; if the hold is gone already, a compare that always fails; an error if etcd could not be
     *     asked
     */
    public Mono<Cmp> held(String key, long fencingToken) {
        long revision = FencingTokens.number(fencingToken);
        if (revision <= 0) {
            throw new IllegalArgumentException("not a fencing token of a lock in etcd: " + fencingToken);
        }
        ByteSequence lock = names.lock(key);
        return etcd.get(lock, Ranges.madeAt(revision))
                .map(answer -> {
                    ByteSequence claim = answer.getKvs().isEmpty()
                            ? lock
                            : answer.getKvs().get(0).getKey();
                    return new Cmp(claim, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
                })
                .onErrorStop();
    }
}
