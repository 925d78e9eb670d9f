package io.github.reactivelock.etcd;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.op.Cmp;
import io.etcd.jetcd.op.CmpTarget;
import io.github.reactivelock.spi.LockBackend;
import reactor.core.publisher.Mono;

/**
 * Makes etcd itself check that a lock is still held when something is written to it. A transaction with the compare from
 * here in its {@code If} fails once the hold is gone, however late it arrives:
 *
 * <pre>{@code
 * lock.withLock("order:42", held -> fencing.held(held.key(), held.fencingToken())
 *     .flatMap(stillHeld -> Mono.fromFuture(() ->
 *         kv.txn().If(stillHeld).Then(Op.put(order, paid, PutOption.DEFAULT)).commit())));
 * }</pre>
 *
 * <p>It is the claim that etcd knows, and flows of one process may pass a claim on among themselves. Where such flows
 * must be told apart too, build the client with {@code passBudget(0, …)}, which gives every hold a claim of its own.
 */
public final class EtcdFencing {

    private final Etcd etcd;
    private final KeyLayout names;

    private EtcdFencing(Client client, EtcdBackendOptions options) {
        this.etcd = new Etcd(ClientSource.of(client), options);
        this.names = new KeyLayout(options.prefix());
    }

    /**
     * Fencing for locks with the default layout.
     *
     * @param client the client that the transactions go through; it is never closed here
     * @return fencing that needs no closing
     */
    public static EtcdFencing using(Client client) {
        return using(client, EtcdBackendOptions.defaults());
    }

    /**
     * Fencing for locks that are laid out in another way.
     *
     * @param client the client that the transactions go through; it is never closed here
     * @param options the options of the lock backend
     * @return fencing that needs no closing
     */
    public static EtcdFencing using(Client client, EtcdBackendOptions options) {
        return new EtcdFencing(client, options);
    }

    /**
     * A compare that holds as long as a hold does. Cold; each subscription asks etcd once for the name of the claim's
     * key, and the compare can then be used for any number of transactions. It may be made in another process than the
     * holder's.
     *
     * @param key the lock's key
     * @param fencingToken the token of the hold
     * @return never empty; if the hold is gone already, a compare that always fails; an error if etcd could not be asked
     */
    public Mono<Cmp> held(String key, long fencingToken) {
        long revision = fencingToken >> LockBackend.PASS_BITS;
        if (revision <= 0) {
            return Mono.error(new IllegalArgumentException("not a fencing token of a lock in etcd: " + fencingToken));
        }
        ByteSequence lock = names.lock(key);
        return etcd.get(lock, Ranges.madeAt(revision)).map(answer -> {
            ByteSequence claim =
                    answer.getKvs().isEmpty() ? lock : answer.getKvs().get(0).getKey();
            return new Cmp(claim, Cmp.Op.EQUAL, CmpTarget.createRevision(revision));
        });
    }
}
