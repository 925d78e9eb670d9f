package io.github.reactivelock.spi.queue;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.FireAndForget;
import io.github.reactivelock.state.LossReason;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Consumer;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Follows claims that wait until they are in. One for the whole, or behind one for the whole, watches the one place
 * that keeps it out. One that waits for units looks at the queue whenever that changes, with one watch for all of them
 * on a lock. Safe for use from any thread.
 *
 * @param <P> a place in the queue
 * @param <E> a claim's entry
 */
public final class Followers<P extends Place, E extends ClaimEntry<P>> {

    private static final Duration PAUSE_AFTER_A_BROKEN_WATCH = Duration.ofMillis(100);

    private final Entries<P, E> entries;
    private final Expiries<P, E> expiries;
    private final Consumer<Signal> pushes;
    private final Map<String, Flux<PlaceQueue<P>>> queues = new ConcurrentHashMap<>();

    /**
     * None yet.
     *
     * @param entries watches them
     * @param expiries ends the holds that begin
     * @param pushes gets the grants, and which claims are to be asked about again
     */
    public Followers(Entries<P, E> entries, Expiries<P, E> expiries, Consumer<Signal> pushes) {
        this.entries = entries;
        this.expiries = expiries;
        this.pushes = pushes;
    }

    /**
     * The claim is in.
     *
     * @param state of the claim
     * @param entry that is in
     * @return false if that is no news of ours
     */
    public boolean own(QueuedClaim<P, E> state, E entry) {
        boolean owns = state.own(entry);
        if (owns) {
            expiries.begin(state, entry);
        }
        return owns;
    }

    /**
     * Waits until a claim is in, and pushes that then. It goes on until the claim is in, has lost its entry or ends.
     *
     * @param state of the claim
     * @param entry that it waits with
     * @param position where it stands
     */
    public void follow(QueuedClaim<P, E> state, E entry, QueuePosition<P> position) {
        P obstacle = position.obstacle();
        Disposable.Swap watch = state.follow(obstacle);
        if (watch == null) {
            return;
        }
        String key = state.claim().key();
        Mono<PlaceQueue<P>> moved = obstacle == null
                ? queue(key).filter(queue -> isIn(state, entry, queue)).next()
                : entries.untilChanged(key, obstacle).then(Mono.empty());
        Mono<Void> news = moved.onErrorResume(error -> afterAPause().then(Mono.empty()))
                .doOnNext(queue -> state.followed(watch))
                .switchIfEmpty(Mono.defer(() -> {
                    state.followed(watch);
                    return entries.queue(key);
                }))
                .flatMap(queue -> moved(state, entry, position(state, queue)))
                .onErrorResume(error -> afterAPause().thenReturn(recheck(state)))
                .doOnNext(pushes)
                .then();
        watch.update(FireAndForget.cancellable("waiting in the queue of a lock", news));
    }

    /**
     * Looks who has a lock that can be called back.
     *
     * @param key the lock's key
     * @return the first place, or empty if it is free or its owner cannot be called back
     */
    public Mono<P> recallable(String key) {
        return entries.queue(key).flatMapIterable(PlaceQueue::places).next().filter(Place::isRecallable);
    }

    /**
     * Looks which claims have been called back, where that may not have been told. The queues show it, also of a claim
     * that does not know yet that it is in.
     *
     * @param states of all claims of this client
     * @param atOnce how many queues are read together
     * @return a recall for each that can be called back and has others behind it; what cannot be read is left out
     */
    public Flux<Signal> calledBack(Collection<? extends QueuedClaim<P, E>> states, int atOnce) {
        return Flux.defer(() -> Flux.fromIterable(List.copyOf(states)))
                .map(QueuedClaim::claim)
                .filter(Claim::recallable)
                .flatMap(
                        claim -> entries.queue(claim.key())
                                .filter(queue -> queue.places().size() > 1
                                        && queue.position(claim.id()).isIn())
                                .<Signal>map(queue -> new Signal.Recall(claim.id()))
                                .onErrorComplete(),
                        atOnce);
    }

    private static Mono<Long> afterAPause() {
        return Mono.delay(PAUSE_AFTER_A_BROKEN_WATCH, DriverThreads.timer());
    }

    /**
     * The queue now and after each change. A later subscriber gets the latest queue first, perhaps from before its own
     * claim, but its own claim is a change too.
     */
    private Flux<PlaceQueue<P>> queue(String key) {
        return queues.computeIfAbsent(
                key,
                absent -> entries.queues(key)
                        .doFinally(signal -> queues.remove(key))
                        .replay(1)
                        .refCount());
    }

    /** A reading that is older than the entry may show one that was given up. */
    private boolean isIn(QueuedClaim<P, E> state, E entry, PlaceQueue<P> queue) {
        QueuePosition<P> position = position(state, queue);
        return position.isIn() && position.isOf(entry);
    }

    private QueuePosition<P> position(QueuedClaim<P, E> state, PlaceQueue<P> queue) {
        return queue.position(state.claim().id());
    }

    private Mono<Signal> moved(QueuedClaim<P, E> state, E entry, QueuePosition<P> position) {
        if (position.own() == null) {
            return state.vanished(entry, LossReason.EXPIRED) ? Mono.just(recheck(state)) : Mono.empty();
        }
        if (!position.isOf(entry)) {
            return Mono.just(recheck(state));
        }
        if (!position.isIn()) {
            follow(state, entry, position);
            return Mono.empty();
        }
        Duration reliable = entries.reliable();
        if (reliable.isZero()) { // the answer to the claim comes with a longer one
            return Mono.just(recheck(state));
        }
        return own(state, entry)
                ? Mono.just(new Signal.Grant(state.claim().id(), entry.token(), reliable))
                : Mono.empty();
    }

    private static Signal recheck(QueuedClaim<?, ?> state) {
        return new Signal.RecheckClaim(state.claim().id());
    }
}
