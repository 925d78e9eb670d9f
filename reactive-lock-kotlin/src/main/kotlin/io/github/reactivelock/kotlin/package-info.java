/**
 * Locks for coroutines and flows: {@link io.github.reactivelock.kotlin.CoroutineLockClient} is the one entry point,
 * which {@code LockClient.coroutines()} makes of any client.
 */
@NullMarked
package io.github.reactivelock.kotlin;

import org.jspecify.annotations.NullMarked;
