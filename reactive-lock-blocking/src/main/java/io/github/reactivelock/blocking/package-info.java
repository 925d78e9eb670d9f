/**
 * Locks for code that blocks, on virtual threads above all. {@code BlockingLockClient} is a view of a
 * {@code LockClient}: its calls wait on the caller's thread, run their work there, and interrupt it when the lock is
 * lost. It is the one package of the library that blocks, and no other one sees it.
 */
@NullMarked
package io.github.reactivelock.blocking;

import org.jspecify.annotations.NullMarked;
