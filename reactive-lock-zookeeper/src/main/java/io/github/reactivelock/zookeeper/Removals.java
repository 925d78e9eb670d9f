package io.github.reactivelock.zookeeper;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.QueuePosition;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.spi.support.LaterAttempts;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The removal of what claims leave behind. A claim that ended while the store could not be asked is remembered until
 * its nodes are gone: they would live as long as the session. It is tried again when the connection is back, and now
 * and then while it is there, because a removal may fail after the connection came back. Safe for use from any thread.
 */
final class Removals {

    private static final int AT_ONCE = 64;
    /** Between two looks whether all is done. */
    private static final Duration PAUSE = Duration.ofSeconds(1);

    private final Connection connection;
    private final Nodes nodes;
    /** What is to be tried again, by the claim's id or the node's path. */
    private final Map<String, Mono<Boolean>> unfinished = new ConcurrentHashMap<>();

    /** Those of them that are being tried again. */
    private final Set<String> trying = ConcurrentHashMap.newKeySet();

    private final AtomicInteger underWay = new AtomicInteger();
    private final LaterAttempts attempts;

    Removals(Connection connection, Nodes nodes) {
        this.connection = connection;
        this.nodes = nodes;
        this.attempts = new LaterAttempts(
                "removing nodes of claims that ended",
                Mono.defer(
                        () -> connection.isConnected() && !connection.isClosed() ? removeUnfinished() : Mono.empty()));
    }

    /** Deletes all nodes of a claim by its id, now or later; whether it owned the lock until now. */
    Mono<Boolean> remove(Claim claim) {
        return finishing(claim, removal(claim));
    }

    private Mono<Boolean> removal(Claim claim) {
        return nodes.latestQueue(claim.key()).flatMap(queue -> {
            QueuePosition<SequenceNode> position = queue.position(claim.id());
            if (position.own() == null) {
                return Mono.just(false);
            }
            List<SequenceNode> all = new ArrayList<>(position.surplus());
            all.add(position.own());
            return nodes.deleteAll(claim.key(), all).thenReturn(position.isIn());
        });
    }

    /** Remembers the claim if its removal fails. */
    Mono<Boolean> finishing(Claim claim, Mono<Boolean> removal) {
        return finishing(claim.id(), removal, removal(claim));
    }

    /**
     * Deletes a node that its claim has given up, now or later. The claim may go on, with a node that is not to be
     * touched.
     */
    Mono<Boolean> remove(Node givenUp) {
        Mono<Boolean> again = nodes.checkOne(givenUp.path())
                .flatMap(checked -> checked.found().get(0).czxid() == givenUp.czxid()
                        ? nodes.delete(givenUp.path())
                        : Mono.just(false));
        return finishing(givenUp.path(), nodes.delete(givenUp.path()), again);
    }

    /** Deletes a node of which there is only one, now or later. */
    Mono<Boolean> remove(String path) {
        Mono<Boolean> deletion = nodes.delete(path);
        return finishing(path, deletion, deletion);
    }

    private Mono<Boolean> finishing(String name, Mono<Boolean> removal, Mono<Boolean> again) {
        return Mono.defer(() -> {
            underWay.incrementAndGet();
            AtomicBoolean over = new AtomicBoolean();
            Runnable end = () -> {
                if (over.compareAndSet(false, true)) {
                    underWay.decrementAndGet();
                }
            };
            return removal.doOnError(error -> {
                        unfinished.put(name, again);
                        attempts.later();
                    })
                    .doOnSuccess(done -> {
                        unfinished.remove(name);
                        attempts.succeeded();
                    })
                    // Before the end is emitted, because a close that gets it asks at once whether all is done.
                    .doOnTerminate(end)
                    .doOnCancel(end);
        });
    }

    /** Completes when all is removed, or the client is closed that could do it. */
    Mono<Void> untilDone() {
        return removeUnfinished()
                .repeatWhen(rounds -> rounds.takeWhile(
                                round -> (underWay.get() > 0 || !unfinished.isEmpty()) && connection.isUsable())
                        .delayElements(PAUSE, DriverThreads.timer()))
                .then();
    }

    /** The claim ended, and whether it has a node is unknown. */
    void later(Claim claim) {
        unfinished.put(claim.id(), removal(claim));
        tidyUp();
    }

    /** Called when the store can be asked again. */
    void tidyUp() {
        if (!unfinished.isEmpty() && !connection.isClosed()) {
            FireAndForget.run("removing nodes of claims that ended", removeUnfinished());
        }
    }

    Mono<Void> removeUnfinished() {
        return Flux.defer(() -> Flux.fromIterable(Map.copyOf(unfinished).entrySet()))
                .filter(left -> trying.add(left.getKey()))
                .flatMap(
                        left -> finishing(left.getKey(), left.getValue(), left.getValue())
                                .onErrorComplete()
                                .doFinally(signal -> trying.remove(left.getKey())),
                        AT_ONCE)
                .then();
    }
}
