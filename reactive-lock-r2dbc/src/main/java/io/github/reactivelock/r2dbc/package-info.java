/**
 * Locks in a relational database, over R2DBC: {@link io.github.reactivelock.r2dbc.R2dbcLockBackend} keeps leases in
 * tables.
 */
@NullMarked
package io.github.reactivelock.r2dbc;

import org.jspecify.annotations.NullMarked;
