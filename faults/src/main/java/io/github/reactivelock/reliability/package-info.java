/**
 * Locks while things break: client processes that can be killed and stopped ({@link
 * io.github.reactivelock.reliability.ClientProcess}), traffic that is checked, and {@link
 * io.github.reactivelock.reliability.Soak}, which runs both for as long as one likes.
 */
@NullMarked
package io.github.reactivelock.reliability;

import org.jspecify.annotations.NullMarked;
