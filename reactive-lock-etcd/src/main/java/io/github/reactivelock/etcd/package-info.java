/**
 * A lock backend on etcd, over jetcd. Start with {@link io.github.reactivelock.etcd.EtcdLockBackend}; use
 * {@link io.github.reactivelock.etcd.EtcdFencingGuard} to write to etcd only while a lock is held.
 */
@NullMarked
package io.github.reactivelock.etcd;

import org.jspecify.annotations.NullMarked;
