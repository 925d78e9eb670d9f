/**
 * How to write a store: a lock kept in a plain, ordered map of keys and values that pushes nothing. Read
 * {@code OrderedMap} first, which is all that such a store can do; then {@code LockState}, the rules of the lock as a
 * pure function; then {@code MapLockBackend}, which makes each rule one atomic step at the store.
 * {@code MapLockBackendContractTest} shows that it keeps what every store has to keep.
 */
@NullMarked
package io.github.reactivelock.testkit.map;

import org.jspecify.annotations.NullMarked;
