package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.state.StaleTokenException;
import java.util.ArrayList;
import java.util.List;
import org.apache.curator.framework.api.transaction.CuratorOp;
import org.apache.curator.framework.api.transaction.CuratorTransactionResult;
import reactor.core.publisher.Mono;

/**
 * Lets ZooKeeper itself refuse a write by a former holder. A guarded write is one transaction that changes nothing once
 * the hold is gone, however late it arrives:
 *
 * <pre>{@code
 * CuratorOp change = client.transactionOp().setData().forPath("/orders/42", paid);
 * lock.withLock("order:42", held -> guard.write("order:42", held.fencingToken(), change));
 * }</pre>
 *
 * <p>It checks the claim that ZooKeeper knows, and flows of one process may pass a claim on among themselves. Where the
 * guard must distinguish such flows too, build the client with {@code passBudget(0, …)}, which gives every hold a claim
 * of its own. A guard may be used in another process than the holder's. It needs no closing, and works for as long as
 * the backend that made it is open.
 */
public final class ZooKeeperFencingGuard {

    private final Connection connection;
    private final Nodes nodes;
    private final KeyLayout names;

    ZooKeeperFencingGuard(Connection connection, Nodes nodes, KeyLayout names) {
        this.connection = connection;
        this.nodes = nodes;
        this.names = names;
    }

    /**
     * Changes ZooKeeper in one transaction, if the lock is still held. Those who share a lock write as well, each for
     * as long as its own share lasts. Cold; each subscription is a write of its own. A transaction without an answer
     * may have been carried out.
     *
     * @param key the lock's key
     * @param fencingToken the token of the hold that allows the write
     * @param changes what to do, as {@code CuratorFramework.transactionOp()} makes it
     * @return what ZooKeeper answered; {@link StaleTokenException} if the hold is gone, with the token of the newest
     *     holder, or the lowest that the next one can have; otherwise the error of the first change that failed
     */
    public Mono<List<CuratorTransactionResult>> write(String key, long fencingToken, CuratorOp... changes) {
        if (FencingTokens.number(fencingToken) <= 0) {
            throw new IllegalArgumentException("not a fencing token of a lock in ZooKeeper: " + fencingToken);
        }
        return nodes.holder(key, FencingTokens.granted(fencingToken))
                .map(held -> held.read().node())
                .switchIfEmpty(Mono.defer(() -> stale(key, fencingToken)))
                .flatMap(holder -> write(holder, changes)
                        // Gone in between, or one of the changes failed: the node says which.
                        .onErrorResume(error -> nodes.read(holder.path())
                                .switchIfEmpty(Mono.defer(() -> stale(key, fencingToken))
                                        .cast(Nodes.Read.class))
                                .then(Mono.error(error))))
                .onErrorStop();
    }

    private Mono<List<CuratorTransactionResult>> write(Node holder, CuratorOp... changes) {
        return connection.ask(Rank.OTHER, async -> {
            List<CuratorOp> all = new ArrayList<>();
            all.add(async.transactionOp().check().forPath(holder.path()));
            all.addAll(List.of(changes));
            return async.transaction().forOperations(all);
        });
    }

    private Mono<Node> stale(String key, long fencingToken) {
        long next = FencingTokens.granted(fencingToken) + FencingTokens.of(1);
        return newest(key)
                .map(holder -> Math.max(next, holder.token()))
                .defaultIfEmpty(next)
                .flatMap(newest -> Mono.error(
                        new StaleTokenException("what the lock '" + key + "' protects", fencingToken, newest)));
    }

    /** The node of the claim that was granted the lock last, as the leader knows it; empty if none is in. */
    private Mono<Node> newest(String key) {
        return nodes.latestQueue(key)
                .filter(queue -> !queue.held().isEmpty())
                .flatMap(queue -> nodes.read(names.claim(
                        key, queue.held().get(queue.held().size() - 1).name())))
                .map(Nodes.Read::node);
    }
}
