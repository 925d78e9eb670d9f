/**
 * Locks while things break: client processes that can be killed and stopped ({@link
 * io.github.reactivelock.faults.ClientProcess}), traffic that is checked, and {@link
 * io.github.reactivelock.faults.Soak}, which runs both for as long as one likes.
 */
@NullMarked
package io.github.reactivelock.faults;

import org.jspecify.annotations.NullMarked;
