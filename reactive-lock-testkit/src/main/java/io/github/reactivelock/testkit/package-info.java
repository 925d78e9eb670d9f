/**
 * What it takes to test a lock backend: {@link io.github.reactivelock.testkit.LockBackendContract}, which every backend
 * has to fulfil; real servers ({@link io.github.reactivelock.testkit.RedisServer}, {@link io.github.reactivelock.testkit.EtcdServer}); and faults, in the network
 * ({@link io.github.reactivelock.testkit.TcpProxy}) or in front of a backend
 * ({@link io.github.reactivelock.testkit.FaultyBackend}). Everything here may block; it is for test threads.
 */
@NullMarked
package io.github.reactivelock.testkit;

import org.jspecify.annotations.NullMarked;
