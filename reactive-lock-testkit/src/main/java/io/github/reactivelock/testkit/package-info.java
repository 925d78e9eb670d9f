/**
 * What it takes to test a lock backend: {@link io.github.reactivelock.testkit.LockBackendContract}, which every backend
 * has to fulfil; {@link io.github.reactivelock.testkit.history}, which records what many clients saw and judges it; and
 * {@link io.github.reactivelock.testkit.FaultyBackend}, faults in front of a backend. Everything here may block; it is
 * for test threads.
 */
@NullMarked
package io.github.reactivelock.testkit;

import org.jspecify.annotations.NullMarked;
