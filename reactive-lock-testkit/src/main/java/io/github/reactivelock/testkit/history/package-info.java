/**
 * Records what clients of a lock saw, in several processes, and judges whether a lock can behave so:
 * {@link io.github.reactivelock.testkit.history.History} records,
 * {@link io.github.reactivelock.testkit.history.HistoryFile} brings the records of several processes together, and
 * {@link io.github.reactivelock.testkit.history.HistoryChecker} judges them.
 */
@NullMarked
package io.github.reactivelock.testkit.history;

import org.jspecify.annotations.NullMarked;
