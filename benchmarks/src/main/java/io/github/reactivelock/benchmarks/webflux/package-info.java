/** The application that is asked by {@code wrk}, and the scenario of it. */
@NullMarked
package io.github.reactivelock.benchmarks.webflux;

import org.jspecify.annotations.NullMarked;
