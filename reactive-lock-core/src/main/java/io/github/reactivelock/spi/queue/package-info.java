/**
 * The queue of a lock in a store that shows each claim as an entry of its own, in their order, and keeps the entries of
 * a client for as long as a session of that client lives. A claim is in by its place, or watches what is before it.
 * What a store has to do for that is {@link io.github.reactivelock.spi.queue.Entries}; how entries are made is its own
 * affair.
 */
@NullMarked
package io.github.reactivelock.spi.queue;

import org.jspecify.annotations.NullMarked;
