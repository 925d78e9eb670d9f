/**
 * One flow's turn under a grant, the handles that are in it, and the news of it. {@code docs/design/holds.md} says why.
 *
 * <table>
 * <caption>Who has which state</caption>
 * <tr><th>class</th><th>state, in the Javadoc of each</th><th>runs on</th></tr>
 * <tr><td>{@link io.github.reactivelock.engine.hold.Hold}</td><td>held, with a count of handles; released;
 * lost</td><td>any thread; its end is an event of the key</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.hold.Handle}</td><td>open, given back</td><td>any thread</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.hold.LossSignal}</td><td>who runs work under it, or the
 * loss</td><td>any thread; it calls work on the work scheduler</td></tr>
 * <tr><td>{@code HoldNews}, {@code HoldStates}</td><td>safe, at risk, lost</td><td>events of the key, the work
 * scheduler</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.hold.ContextHolds}, {@code Unwinding},
 * {@link io.github.reactivelock.engine.hold.OwnerHolds}</td><td>which holds a flow is under</td><td>the flow's
 * thread</td></tr>
 * </table>
 *
 * <p>{@link io.github.reactivelock.engine.hold.HoldOwner}, {@code HoldOwner.Flow} and {@code LossSignal.Work} are what
 * it needs of the rooms above.
 */
@NullMarked
package io.github.reactivelock.engine.hold;

import org.jspecify.annotations.NullMarked;
