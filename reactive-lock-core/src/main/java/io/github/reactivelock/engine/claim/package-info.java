/**
 * One claim: how it is asked for, what proves that it is granted, how its grant is renewed and given back. Rule 2 of
 * the design lives here: an answer or a push counts only if it proves that it is about the present. {@code models/} has
 * a model of it, and {@code docs/design/claims.md} says why.
 *
 * <table>
 * <caption>Who has which state</caption>
 * <tr><th>class</th><th>state, in the Javadoc of each</th><th>runs in</th></tr>
 * <tr><td>{@link io.github.reactivelock.engine.claim.Attempt}</td><td>from the first question to the
 * grant</td><td>events of the key</td></tr>
 * <tr><td>{@code ClaimQuestion}</td><td>one question on its way</td><td>events of the key, a driver's
 * thread</td></tr>
 * <tr><td>{@code Evidence}</td><td>which token and which push count</td><td>events of the key</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.claim.Grant}</td><td>from the grant to its end</td><td>events of the
 * key; its clock is read by any thread</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.claim.PendingRelease}</td><td>until the store has confirmed that the
 * claim is gone</td><td>any thread</td></tr>
 * </table>
 *
 * <p>{@link io.github.reactivelock.engine.claim.Phase} is what an attempt and a grant have in common for signals and
 * ticks; {@link io.github.reactivelock.engine.claim.ClaimOwner} and {@code PendingRelease.Owner} are what it needs of
 * the rooms above.
 */
@NullMarked
package io.github.reactivelock.engine.claim;

import org.jspecify.annotations.NullMarked;
