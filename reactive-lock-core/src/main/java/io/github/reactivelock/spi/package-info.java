/**
 * What a store has to do to keep locks, and the values that pass between a store and the engine. This package knows
 * nothing of the engine and imports nothing of it; a backend depends on this package alone. Start with
 * {@link io.github.reactivelock.spi.LockBackend}.
 */
@NullMarked
package io.github.reactivelock.spi;

import org.jspecify.annotations.NullMarked;
