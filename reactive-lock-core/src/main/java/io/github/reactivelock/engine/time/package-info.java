/**
 * The time of a client: its clock, its timer, and the one tick from which everything periodic hangs. Sees threads only.
 * {@code docs/design/time.md} says for how long a grant may be relied upon.
 *
 * <pre>
 * tick      leaves on
 * none      the first lease -> at a pace; pauses of the process are counted from then on
 * at a pace a shorter lease -> a faster one; no short lease is left, found by a tick -> a slower one;
 *           the client is closed -> over
 * over      never
 * </pre>
 *
 * <table>
 * <caption>Who has which state</caption>
 * <tr><th>class</th><th>state</th><th>runs on</th></tr>
 * <tr><td>{@link io.github.reactivelock.engine.time.Timing}</td><td>the pace of the tick, in one word that a
 * compare-and-set changes</td><td>any thread; ticks and deadlines on the timer's, where nothing may block</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.time.Watched}</td><td>until when a tick need not look at
 * it</td><td>written in events of the key, read by the tick</td></tr>
 * </table>
 *
 * <p>What is periodic for a key only begins on the timer: it goes on in an event of the key.
 */
@NullMarked
package io.github.reactivelock.engine.time;

import org.jspecify.annotations.NullMarked;
