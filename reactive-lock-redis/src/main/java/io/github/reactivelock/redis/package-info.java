/**
 * The Redis lock protocol, written once and tied to no client library: {@link
 * io.github.reactivelock.redis.RedisLockBackend} speaks it over the few things that a {@link
 * io.github.reactivelock.redis.RedisConnection} can do. Users meet only {@link
 * io.github.reactivelock.redis.RedisBackendOptions} here; the rest is for the modules that bring a client.
 */
@NullMarked
package io.github.reactivelock.redis;

import org.jspecify.annotations.NullMarked;
