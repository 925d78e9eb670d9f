package io.github.reactivelock.examples.webflux.shop;

/**
 * An order that was sold.
 *
 * @param order its number
 * @param item what was sold
 * @param till where
 * @param token the fencing token of the hold, as a text because JavaScript's numbers are too small for it
 * @param sold how many were sold, this one included
 */
public record Receipt(int order, String item, String till, String token, int sold) {}
