/**
 * Programs that show the lock at work, each started with {@code examples/run NAME}. They are ordinary applications:
 * they use only the public API, and only a main method waits for the reactive program that it has assembled.
 */
@NullMarked
package io.github.reactivelock.examples;

import org.jspecify.annotations.NullMarked;
