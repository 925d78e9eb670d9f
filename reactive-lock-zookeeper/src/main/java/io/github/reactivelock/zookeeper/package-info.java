/**
 * A lock backend on ZooKeeper, over Curator. Start with
 * {@link io.github.reactivelock.zookeeper.ZooKeeperLockBackend}.
 */
@NullMarked
package io.github.reactivelock.zookeeper;

import org.jspecify.annotations.NullMarked;
