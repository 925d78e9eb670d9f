/**
 * A shop as a Spring Boot application. The starter gives it its {@code LockClient}; it has one method under a lock
 * ({@code Checkout}) and a listener that tells what its locks do ({@code LockActivity}). Any number of its instances
 * may run.
 */
@NullMarked
package io.github.reactivelock.examples.webflux.shop;

import org.jspecify.annotations.NullMarked;
