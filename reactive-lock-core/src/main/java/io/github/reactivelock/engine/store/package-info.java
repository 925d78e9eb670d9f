/**
 * What leaves for the store, and how its answers are waited for. The questions of all locks of a client go through one
 * {@link io.github.reactivelock.engine.store.Gate}, which knows whether the store has ever answered
 * ({@link io.github.reactivelock.engine.store.Opening}) and how many questions at once it can bear
 * ({@link io.github.reactivelock.engine.store.Window}; a {@link io.github.reactivelock.engine.store.Permit} is one
 * claim's place there). {@code docs/design/claims.md} says why.
 *
 * <table>
 * <caption>Who runs where</caption>
 * <tr><th>class</th><th>state</th><th>runs on</th></tr>
 * <tr><td>{@code Opening}</td><td>open, opening, pausing; its Javadoc has the table; whether the store has ever
 * answered</td><td>events of the gate; the first answer, any thread</td></tr>
 * <tr><td>{@code Window}</td><td>how many may be on their way</td><td>any thread; its counts are lock-free</td></tr>
 * <tr><td>{@code Permit}</td><td>counted, held back, settled; its Javadoc has the table</td><td>events
 * of the claim's key; its time, any thread</td></tr>
 * <tr><td>{@code Gate}, {@link io.github.reactivelock.engine.store.StoreAnswer}</td><td>one mailbox of what waits to
 * leave</td><td>the asking thread, a driver's thread, the timer</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.store.Renewals}</td><td>those due since the last
 * one</td><td>ticks</td></tr>
 * </table>
 *
 * <p>Those who ask stand in rooms above; it knows them as {@code Renewals.Due}, {@code Permit} and
 * {@link io.github.reactivelock.engine.store.Claims}.
 */
@NullMarked
package io.github.reactivelock.engine.store;

import org.jspecify.annotations.NullMarked;
