package io.github.reactivelock.spi.queue;

/**
 * A claim's entry that is there, and the line as it was right after it was made.
 *
 * @param own the claim's entry
 * @param line all claims on the lock
 * @param <P> a place in the line
 * @param <E> a claim's entry
 */
public record Entered<P extends Place, E>(E own, Line<P> line) {}
