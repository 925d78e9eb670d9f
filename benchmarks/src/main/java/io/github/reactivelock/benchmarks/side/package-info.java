/** The contenders: one class a library, and the names by which scenarios ask for them. */
@NullMarked
package io.github.reactivelock.benchmarks.side;

import org.jspecify.annotations.NullMarked;
