/**
 * The time of a client: its clock, its timer, and the one tick from which everything periodic hangs. Sees threads only.
 * {@code docs/design/time.md} says for how long a grant may be relied upon.
 *
 * <p>The timer's thread runs ticks and deadlines, and nothing on it may block. A
 * {@link io.github.reactivelock.engine.time.Watched} has one word of state, until when the tick need not look at it,
 * which is written inside the events of its key and read by the tick.
 */
@NullMarked
package io.github.reactivelock.engine.time;

import org.jspecify.annotations.NullMarked;
