package io.github.reactivelock.spi.queue;

import java.time.Duration;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * The entries of claims in a store. What returns a publisher is cold, and an error of it is an interruption, after
 * which the store is asked again.
 *
 * @param <P> a place in the queue
 * @param <E> a claim's entry
 */
public interface Entries<P extends Place, E extends ClaimEntry<P>> {

    /**
     * Reads the queue of a lock.
     *
     * @param key the lock's key
     * @return the claims that are there, perhaps none
     */
    Mono<PlaceQueue<P>> queue(String key);

    /**
     * Watches the queue of a lock.
     *
     * @param key the lock's key
     * @return the queue now and after each change, without end
     */
    Flux<PlaceQueue<P>> queues(String key);

    /**
     * Watches one place of a queue.
     *
     * @param key the lock's key
     * @param place of any client
     * @return completes when the place is not as it was, at once if that is so already
     */
    Mono<Void> untilChanged(String key, P place);

    /**
     * Tells how long a hold that begins now may be relied upon, which is not longer than the session is certain to
     * last.
     *
     * @return zero if the store has to be asked first: the claim is asked about again instead
     */
    Duration reliable();

    /**
     * Asks whether an entry of this client is there as it was.
     *
     * @param entry of a hold
     * @return false if it is not; an error if that is not known
     */
    Mono<Boolean> isThere(E entry);

    /**
     * Makes an entry of this client, which stays where it is, one that cannot be called back. Said again it changes
     * nothing.
     *
     * @param entry of a hold that could be called back
     * @return the entry from then on; empty if it is not there as it was; an error if that is not known
     */
    Mono<E> unmark(E entry);

    /**
     * Removes an entry, and no other of the same claim. One that cannot be removed now is removed later, after the
     * error.
     *
     * @param entry that its claim has given up
     * @return whether it was there until now
     */
    Mono<Boolean> remove(E entry);
}
