/**
 * A shop on Spring Boot and WebFlux, with two instances. The application is what a user would write ({@code shop}); the
 * page and the switches that kill an instance are around it ({@code front}). Handlers return what is locked and never
 * wait.
 */
@NullMarked
package io.github.reactivelock.examples.webflux;

import org.jspecify.annotations.NullMarked;
