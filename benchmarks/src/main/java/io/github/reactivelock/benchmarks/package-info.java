/**
 * Side-by-side runs of this library against other locks. {@link io.github.reactivelock.benchmarks.Benchmarks} starts
 * servers and client processes and lets the contenders take turns; a {@link io.github.reactivelock.benchmarks.Worker}
 * is one such process, a {@link io.github.reactivelock.benchmarks.Side} one contender.
 */
@NullMarked
package io.github.reactivelock.benchmarks;

import org.jspecify.annotations.NullMarked;
