package io.github.reactivelock.examples.webflux.shop;

/**
 * What a customer gets.
 *
 * @param item what was sold
 * @param sold how many of it were sold, this one included
 * @param token the fencing token of the sale, as a string because JavaScript's numbers are too small for it
 */
public record Receipt(String item, int sold, String token) {}
