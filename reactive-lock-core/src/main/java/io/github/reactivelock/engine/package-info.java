/**
 * The engine: what a client does between its caller and its store. Not exported: what is public here is so for other
 * rooms, not for users, and may change at any time. Only {@code LockClient} and {@code LockClientBuilder} see it.
 *
 * <p>Each room sees those above it in this table and none below. Where it has to tell one below something, it says in
 * an interface what it needs.
 *
 * <table>
 * <caption>The rooms, from the bottom</caption>
 * <tr><th>room</th><th>is about</th></tr>
 * <tr><td>{@code user}</td><td>threads, and the way to code of a user</td></tr>
 * <tr><td>{@code time}</td><td>clock, timer, the one tick</td></tr>
 * <tr><td>{@code store}</td><td>what leaves for the store, how much at once, and who waits for the answer</td></tr>
 * <tr><td>{@code claim}</td><td>one claim: asked, granted, renewed, given back</td></tr>
 * <tr><td>{@code hold}</td><td>one flow's turn under a grant, and the handles of it</td></tr>
 * <tr><td>{@code flow}</td><td>one subscription that wants locks</td></tr>
 * <tr><td>{@code cohort}</td><td>the flows of one key in this process, and all keys of a client</td></tr>
 * </table>
 *
 * <p>This package itself has what the door hands in: the settings of a client.
 */
@NullMarked
package io.github.reactivelock.engine;

import org.jspecify.annotations.NullMarked;
