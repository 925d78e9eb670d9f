/**
 * One subscription that wants locks: how it waits, runs its work under them, and ends. The state of a flow is one word,
 * so that a grant never meets a flow that has left. {@code docs/design/cohort.md} and {@code docs/design/holds.md} say
 * why.
 *
 * <table>
 * <caption>Who has which state</caption>
 * <tr><th>class</th><th>state</th><th>runs on</th></tr>
 * <tr><td>{@link io.github.reactivelock.engine.flow.WithLock}</td><td>none</td><td>the subscriber's thread</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.flow.Waiter},
 * {@link io.github.reactivelock.engine.flow.AcquireWaiter}, {@code KeysInOrder}, {@code LockedWork}</td><td>one word;
 * {@link io.github.reactivelock.engine.flow.FlowState} has the table, and which thread moves what</td><td>joins a queue
 * and leaves it in events of the key; its time is up on the timer; a grant or a failure comes on the work scheduler,
 * and on the subscriber's thread where it joins a hold of its own</td></tr>
 * <tr><td>{@code KeysInOrder}</td><td>which keys are held so far, and how many releases are unanswered</td><td>the
 * thread of each grant, which is an event of the key while more keys are wanted; answers of releases</td></tr>
 * <tr><td>{@code LockedWork}</td><td>what the work ended with; the kept value, where it is a
 * {@code Mono}</td><td>the thread of the grant, then the work's own</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.flow.WaitingFlows}</td><td>the flows of a queue in their order, and when
 * another was last known to have what they wait for</td><td>events of the key</td></tr>
 * </table>
 *
 * <p>{@code Waiter.Queue}, {@code Waiter.Locks} and {@code WaitingFlows.Key} are what it needs of the room above.
 */
@NullMarked
package io.github.reactivelock.engine.flow;

import org.jspecify.annotations.NullMarked;
