/**
 * The flows of one key in this process behind one claim or a few, and the keys of a client. Everything about one key
 * happens in its events, one after the other: that is the mailbox of its
 * {@link io.github.reactivelock.engine.cohort.KeyContext}. {@code docs/design/cohort.md} and
 * {@code docs/design/shares.md} say why.
 *
 * <table>
 * <caption>Who has which state</caption>
 * <tr><th>class</th><th>state, in the Javadoc of each</th><th>runs in</th></tr>
 * <tr><td>{@link io.github.reactivelock.engine.cohort.Engine}</td><td>open, closing, over; tables of keys and
 * claims</td><td>any thread</td></tr>
 * <tr><td>{@code KeyContext}</td><td>how many flows have to do with the key</td><td>is the mailbox</td></tr>
 * <tr><td>{@code Deliveries}</td><td>what is left to deliver on the thread that delivers</td><td>the work
 * scheduler</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.cohort.Cohort}, {@code OrderedCohort}, {@code SharedCohort},
 * {@code PermitQueue}</td><td>idle, asking, held, passing, retained</td><td>events of the key</td></tr>
 * <tr><td>{@code Retention}</td><td>what is kept, which keys were called back</td><td>any thread</td></tr>
 * <tr><td>{@code ClaimBatcher}</td><td>shut, open</td><td>events of the key</td></tr>
 * <tr><td>{@code SignalRouter}</td><td>the one subscription to the store's signals</td><td>a driver's thread</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.cohort.Queries}</td><td>none</td><td>the caller's thread; answers on the
 * work scheduler</td></tr>
 * </table>
 *
 * <p>{@code Cohort}, {@code KeyContext} and {@code Engine} know one another: that circle is one state machine, and it
 * stays within this package.
 */
@NullMarked
package io.github.reactivelock.engine.cohort;

import org.jspecify.annotations.NullMarked;
