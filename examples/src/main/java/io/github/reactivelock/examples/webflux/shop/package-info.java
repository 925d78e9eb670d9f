/**
 * A till of the shop: a Spring Boot application with the starter, of which the example runs two, each a process of its own.
 * {@code Till} has the lock, in an annotation; the rest tells the page what happens.
 */
@NullMarked
package io.github.reactivelock.examples.webflux.shop;

import org.jspecify.annotations.NullMarked;
