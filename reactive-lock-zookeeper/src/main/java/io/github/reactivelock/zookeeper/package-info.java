/**
 * A lock backend on ZooKeeper, over Curator. Start with
 * {@link io.github.reactivelock.zookeeper.ZooKeeperLockBackend}; use
 * {@link io.github.reactivelock.zookeeper.ZooKeeperFencingGuard} to write to ZooKeeper only while a lock is held.
 */
@NullMarked
package io.github.reactivelock.zookeeper;

import org.jspecify.annotations.NullMarked;
