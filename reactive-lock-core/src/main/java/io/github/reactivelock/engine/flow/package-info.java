/**
 * One subscription that wants locks: how it waits, runs its work under them, and ends. The state of a flow is one word,
 * so that a grant never meets a flow that has left.
 *
 * <p>{@link io.github.reactivelock.engine.flow.FlowState} is the one table of what a flow goes through. Callbacks run
 * on the work scheduler; what is said to a queue runs in the events of its key. {@code Waiter.Queue} and
 * {@code Waiter.Locks} are what it needs of the room above. {@code docs/design/cohort.md} and
 * {@code docs/design/holds.md} say why.
 */
@NullMarked
package io.github.reactivelock.engine.flow;

import org.jspecify.annotations.NullMarked;
