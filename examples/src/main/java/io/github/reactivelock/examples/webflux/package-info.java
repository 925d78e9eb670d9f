/**
 * A shop on Spring WebFlux with two tills, which take orders for the same items. Each till ({@code shop.Shop}) is a process of
 * its own, a Boot application with the starter. In front of them ({@code Front}) is a switch that passes orders on, kills and
 * starts tills, and shows on a page live who holds which lock.
 */
@NullMarked
package io.github.reactivelock.examples.webflux;

import org.jspecify.annotations.NullMarked;
