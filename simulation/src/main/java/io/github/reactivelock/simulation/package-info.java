/**
 * A fleet of real clients with the real engine, in a time of its own: one thread, one line of events, and a seed that
 * decides everything that chance decides elsewhere. {@code ./simulate} runs it.
 *
 * <p>A {@code World} is the line of events. A {@code Machine} is a process, with a clock and schedulers
 * of its own, and a {@code Member} the client on it. A
 * {@code Wire} is its way to one {@code Site}, a server with a store. A {@code Plan} is what a seed makes of all that
 * and of what is going to break, {@code Flows} are the work, and the {@code Oracle} judges.
 */
@NullMarked
package io.github.reactivelock.simulation;

import org.jspecify.annotations.NullMarked;
