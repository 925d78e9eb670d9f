package io.github.reactivelock.consul;

import io.github.reactivelock.spi.FencingTokens;
import io.github.reactivelock.spi.queue.PlaceQueue;
import io.github.reactivelock.spi.support.Departures.Rank;
import io.github.reactivelock.state.StaleTokenException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/**
 * Lets Consul itself refuse a write by a former holder. A guarded write is one transaction that changes nothing once
 * the hold is gone, however late it arrives:
 *
 * <pre>{@code
 * Change change = Change.set("orders/42", paid);
 * lock.withLock("order:42", held -> guard.write("order:42", held.fencingToken(), change));
 * }</pre>
 *
 * <p>It checks the claim that Consul knows, and flows of one process may pass a claim on among themselves. Where the
 * guard must distinguish such flows too, build the client with {@code passBudget(0, …)}, which gives every hold a claim
 * of its own. A guard may be used in another process than the holder's. It needs no closing, and works for as long as
 * the backend that made it is open.
 */
public final class ConsulFencingGuard {

    private static final int MOST_CHANGES = Operation.MOST - 1;

    private final Agents agents;
    private final ClaimKeys keys;

    ConsulFencingGuard(Agents agents, ClaimKeys keys) {
        this.agents = agents;
        this.keys = keys;
    }

    /** A change of one key in Consul. */
    public static final class Change {

        private final Operation operation;

        private Change(Operation operation) {
            this.operation = operation;
        }

        /**
         * Writes a key.
         *
         * @param key the whole name, outside the prefix of the locks
         * @param value at most 512 KiB
         * @return a change
         */
        public static Change set(String key, byte[] value) {
            return new Change(Operation.set(key, value));
        }

        /**
         * Writes a key if it is as it was.
         *
         * @param key the whole name, outside the prefix of the locks
         * @param modifyIndex as Consul showed it, or zero if the key must not be there
         * @param value at most 512 KiB
         * @return a change
         */
        public static Change checkAndSet(String key, long modifyIndex, byte[] value) {
            return new Change(Operation.checkAndSet(key, modifyIndex, value));
        }

        /**
         * Deletes a key, if it is there.
         *
         * @param key the whole name, outside the prefix of the locks
         * @return a change
         */
        public static Change delete(String key) {
            return new Change(Operation.delete(key));
        }
    }

    /**
     * Changes Consul in one transaction, if the lock is still held. Those who share a lock write as well, each for as
     * long as its own share lasts. Cold; each subscription is a write of its own. A transaction without an answer is
     * sent again while the time of a command lasts, so each change should have the same effect when it is made twice,
     * as {@code set} and {@code delete} have. An agent that was stopped may make it once more when it goes on, while
     * the hold lasts: what must not come after a later write of the same hold is a {@code checkAndSet}.
     *
     * @param key the lock's key
     * @param fencingToken the token of the hold that allows the write
     * @param changes what to do, at most 63
     * @return completes when it is done; {@link StaleTokenException} if the hold is gone, with the token of the newest
     *     holder, or the lowest that the next one can have; otherwise an error, with what Consul said of the first
     *     change that failed. Nothing was changed then, unless there was no answer
     */
    public Mono<Void> write(String key, long fencingToken, Change... changes) {
        long index = FencingTokens.number(fencingToken);
        if (index <= 0) {
            throw new IllegalArgumentException("not a fencing token of a lock in Consul: " + fencingToken);
        }
        if (changes.length > MOST_CHANGES) {
            throw new IllegalArgumentException(
                    "Consul takes at most " + MOST_CHANGES + " guarded changes at once, not " + changes.length);
        }
        List<Operation> operations =
                Stream.of(changes).map(change -> change.operation).toList();
        return keys.queue(key)
                .flatMap(queue -> queue.held().stream()
                        .filter(holder -> holder.created() == index)
                        .findFirst()
                        .map(holder -> write(key, fencingToken, holder, operations))
                        .orElseGet(() -> stale(key, fencingToken, queue)))
                .onErrorStop();
    }

    private Mono<Void> write(String key, long fencingToken, Entry holder, List<Operation> changes) {
        List<Operation> all = new ArrayList<>();
        all.add(Operation.checkIndex(holder.key(), holder.modified()));
        all.addAll(changes);
        return keys.transaction(Rank.OTHER, all).flatMap(done -> {
            if (done.failed().isEmpty()) {
                return Mono.empty();
            }
            boolean isStale = done.failed().stream().anyMatch(failed -> failed.operation() == 0);
            ConsulFailure why = keys.refused(done);
            if (!isStale || ConsulFailure.is(why, ConsulFailure.Kind.DENIED)) {
                return Mono.error(why);
            }
            return done.repeated()
                    ? Mono.error(ConsulFailure.unclear(
                            agents.names(), "the changes under '" + key + "' were made before the hold ended"))
                    : keys.queue(key).flatMap(queue -> stale(key, fencingToken, queue));
        });
    }

    private static Mono<Void> stale(String key, long fencingToken, PlaceQueue<Entry> queue) {
        long next = Entry.token(FencingTokens.number(fencingToken) + 1);
        long newest = queue.held().isEmpty()
                ? next
                : Math.max(next, queue.held().get(queue.held().size() - 1).token());
        return Mono.error(new StaleTokenException("what the lock '" + key + "' protects", fencingToken, newest));
    }
}
