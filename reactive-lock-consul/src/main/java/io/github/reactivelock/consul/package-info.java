/**
 * A lock backend on Consul, over its HTTP interface. Start with
 * {@link io.github.reactivelock.consul.ConsulLockBackend}; use
 * {@link io.github.reactivelock.consul.ConsulFencingGuard} to write to Consul only while a lock is held.
 */
@NullMarked
package io.github.reactivelock.consul;

import org.jspecify.annotations.NullMarked;
