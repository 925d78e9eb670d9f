/**
 * Side-by-side runs of this library against other locks. {@link io.github.reactivelock.benchmarks.Benchmarks} starts
 * servers and client processes and lets the contenders take turns; a
 * {@link io.github.reactivelock.benchmarks.client.Worker} is one such process, a
 * {@link io.github.reactivelock.benchmarks.side.Side} one contender. What is public in the packages below is so for the
 * others of them.
 */
@NullMarked
package io.github.reactivelock.benchmarks;

import org.jspecify.annotations.NullMarked;
