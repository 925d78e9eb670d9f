/**
 * One subscription that wants locks: how it waits, runs its work under them, and ends. The state of a flow is one word,
 * so that a grant never meets a flow that has left.
 *
 * <pre>
 * state     whose       leaves on
 * NEW       any         it begins to wait -> WAITING
 * WAITING   any         its turn, or a hold of its own -> GRANTED; timeout, failure -> OVER; cancel -> OVER
 * GRANTED   any         the handle is delivered -> DONE, or one of the states behind it
 * OVER      any         the failure is delivered -> DONE
 * DONE      any         nothing
 * from OWN  several     {@code KeysInOrder}: it goes on to its next key, or back
 * from MORE work        {@code LockedWork}: the work runs, ends, is cancelled
 * </pre>
 *
 * <p>{@link io.github.reactivelock.engine.flow.Waiter} has the first five and its two kinds the others, in tables of
 * their own. Callbacks run on the work scheduler; what is said to a line runs in the events of its key.
 * {@code Waiter.Line} and {@code Waiter.Locks} are what it needs of the room above.
 * {@code docs/design/cohort.md} and {@code docs/design/holds.md} say why.
 */
@NullMarked
package io.github.reactivelock.engine.flow;

import org.jspecify.annotations.NullMarked;
