/**
 * Threads, and the way to code of a user. Rule 1 of the design lives here: user code runs on the work scheduler and
 * nowhere else, and sees what its own flow's thread carried. {@code docs/design/user-code.md} says why.
 *
 * <table>
 * <caption>Who runs where</caption>
 * <tr><th>class</th><th>state</th><th>runs on</th></tr>
 * <tr><td>{@link io.github.reactivelock.engine.user.Mailbox}</td><td>idle, busy, left</td><td>the thread that posts to
 * an idle one; after many events a thread of the pool</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.user.HeardRequest}</td><td>new, waiting, held; a mailbox of its
 * own</td><td>the work scheduler</td></tr>
 * <tr><td>{@link io.github.reactivelock.engine.user.WorkThreads}</td><td>lock-free lists of threads and
 * tasks</td><td>its own threads, the only ones of the engine that may block</td></tr>
 * <tr><td>{@code WorkScheduler}, {@link io.github.reactivelock.engine.user.UserCallbacks},
 * {@link io.github.reactivelock.engine.user.ThreadLocals}</td><td>none</td><td>any thread</td></tr>
 * </table>
 */
@NullMarked
package io.github.reactivelock.engine.user;

import org.jspecify.annotations.NullMarked;
