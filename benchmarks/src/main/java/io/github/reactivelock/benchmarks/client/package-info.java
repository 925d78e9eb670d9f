/** A client process and the coordinator's end of it: loads, their flows, and what they come to. */
@NullMarked
package io.github.reactivelock.benchmarks.client;

import org.jspecify.annotations.NullMarked;
