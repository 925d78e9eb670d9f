/**
 * Programs that show the lock at work, each started with {@code examples/run NAME}. They are ordinary applications: they
 * use the public API only, and a main method is the one place that waits for the reactive program it has assembled.
 */
@NullMarked
package io.github.reactivelock.examples;

import org.jspecify.annotations.NullMarked;
