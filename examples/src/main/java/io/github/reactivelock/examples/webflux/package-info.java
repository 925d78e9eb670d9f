/**
 * A shop on Spring WebFlux. Two tills ({@code Till}), each with a lock client of its own as two processes would have,
 * take orders for the same items over HTTP; a page shows live who holds which lock ({@code Board}). Handlers return what
 * {@code withLock} makes and never wait.
 */
@NullMarked
package io.github.reactivelock.examples.webflux;

import org.jspecify.annotations.NullMarked;
