package io.github.reactivelock.consul;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.queue.QueuePosition;
import io.github.reactivelock.spi.support.LaterAttempts;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The removal of what claims leave behind. A claim that ended while Consul could not be asked is remembered until its
 * key is gone, which would live as long as the session. Safe for use from any thread.
 */
final class Removals {

    private static final int AT_ONCE = 16;

    private final ClaimKeys keys;
    private final KeyLayout names;
    private final ClaimGate gate;
    /** What is to be tried again, by the key's name. */
    private final Map<String, Mono<Boolean>> unfinished = new ConcurrentHashMap<>();
    /** What is to be removed when no question from before can make it any more, by the key's name. */
    private final Map<String, Mono<Boolean>> doubted = new ConcurrentHashMap<>();

    private final LaterAttempts attempts;

    Removals(Agents agents, ClaimKeys keys, KeyLayout names, ClaimGate gate) {
        this.keys = keys;
        this.names = names;
        this.gate = gate;
        this.attempts = new LaterAttempts(
                "removing keys of claims that ended",
                Mono.defer(() -> agents.isClosed() ? Mono.empty() : removeUnfinished()));
    }

    /** Deletes a claim's key by its name, now or later; whether it owned the lock until now. */
    Mono<Boolean> remove(Claim claim) {
        return finishing(names.claim(claim), removal(claim));
    }

    private Mono<Boolean> removal(Claim claim) {
        return keys.queue(claim.key()).flatMap(queue -> {
            QueuePosition<Entry> position = queue.position(claim.id());
            return position.own() == null
                    ? Mono.just(false)
                    : keys.delete(names.claim(claim)).thenReturn(position.isIn());
        });
    }

    /** Remembers the claim if its removal fails. */
    <T> Mono<T> finishing(Claim claim, Mono<T> removal) {
        return removal.doOnError(error -> later(names.claim(claim), removal(claim)));
    }

    /**
     * Deletes a key that its claim has given up, now or later. The claim may go on, with a key made anew that is not to
     * be touched.
     */
    Mono<Boolean> remove(Entry givenUp) {
        Mono<Boolean> removal =
                keys.delete(givenUp).flatMap(deleted -> deleted.done() ? Mono.just(true) : overwritten(givenUp));
        return finishing(givenUp.key(), removal);
    }

    /** A stranger wrote to it; that it was made by the same write says that it is the same. */
    private Mono<Boolean> overwritten(Entry givenUp) {
        return keys.read(givenUp.key())
                .filter(found -> found.created() == givenUp.created())
                .flatMap(found -> keys.delete(found).map(ClaimKeys.Deleted::done))
                .defaultIfEmpty(false);
    }

    private Mono<Boolean> finishing(String name, Mono<Boolean> removal) {
        return removal.doOnError(error -> later(name, removal)).doOnSuccess(done -> {
            unfinished.remove(name);
            attempts.succeeded();
        });
    }

    /** The claim ended, and whether it has a key is unknown. */
    void later(Claim claim) {
        later(names.claim(claim), removal(claim));
    }

    /** The claim has ended, and a question that makes its key may still be on its way. */
    void sweep(Claim claim) {
        doubted.put(names.claim(claim), removal(claim));
        attempts.later();
    }

    private void later(String name, Mono<Boolean> removal) {
        unfinished.put(name, removal);
        attempts.later();
    }

    private Mono<Void> removeUnfinished() {
        return Flux.defer(() -> Flux.fromIterable(Map.copyOf(unfinished).entrySet()))
                .flatMap(left -> finishing(left.getKey(), left.getValue()).onErrorComplete(), AT_ONCE)
                .then(Mono.defer(this::removeDoubted));
    }

    private Mono<Void> removeDoubted() {
        Map<String, Mono<Boolean>> known = Map.copyOf(doubted);
        return known.isEmpty()
                ? Mono.empty()
                : gate.shut()
                        .thenMany(Flux.fromIterable(known.entrySet()))
                        .flatMap(
                                left -> left.getValue().doOnSuccess(done -> {
                                    doubted.remove(left.getKey(), left.getValue());
                                    attempts.succeeded();
                                }),
                                AT_ONCE)
                        .then()
                        .doOnError(error -> attempts.later())
                        .onErrorComplete();
    }
}
