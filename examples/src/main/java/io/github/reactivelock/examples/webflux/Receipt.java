package io.github.reactivelock.examples.webflux;

import org.jspecify.annotations.Nullable;

/**
 * An order that has, or had, its item.
 *
 * @param order its number
 * @param till where it was placed
 * @param token the fencing token of its hold, as a string because JavaScript's numbers are too small for it
 * @param after the till it took over from; null if the item was free when it came
 * @param handOverMillis from the end of the order before to the start of this one; null if the item was free
 */
record Receipt(
        int order,
        String till,
        String token,
        @Nullable String after,
        @Nullable Double handOverMillis) {}
