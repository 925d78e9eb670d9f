/**
 * Locks for ShedLock, whose annotations and executors stay as they are. {@code ReactiveLockProvider} is the provider to
 * give them.
 */
@NullMarked
package io.github.reactivelock.shedlock;

import org.jspecify.annotations.NullMarked;
