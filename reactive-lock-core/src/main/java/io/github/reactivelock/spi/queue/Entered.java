package io.github.reactivelock.spi.queue;

/**
 * A claim's entry that is there, and the queue as it was right after it was made.
 *
 * @param own the claim's entry
 * @param queue all claims on the lock
 * @param <P> a place in the queue
 * @param <E> a claim's entry
 */
public record Entered<P extends Place, E>(E own, PlaceQueue<P> queue) {}
