/** Servers that scenarios measure at: their start, their addresses, and what they count. */
@NullMarked
package io.github.reactivelock.benchmarks.server;

import org.jspecify.annotations.NullMarked;
