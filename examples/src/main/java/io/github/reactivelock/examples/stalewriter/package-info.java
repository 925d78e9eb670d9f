/**
 * A holder that is stopped for longer than its lease and then continues as if nothing had happened. The holders ({@code
 * Writer}) are JVMs of their own; the process the user starts ({@code StaleWriter}) stops the first, lets the second
 * take over and write, and wakes the first, which writes too: once without and once with the guard at the resource.
 */
@NullMarked
package io.github.reactivelock.examples.stalewriter;

import org.jspecify.annotations.NullMarked;
