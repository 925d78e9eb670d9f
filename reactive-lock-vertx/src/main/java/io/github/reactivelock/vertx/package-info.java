/**
 * Locks for Vert.x. {@link io.github.reactivelock.vertx.VertxLockClient} gives a verticle futures on its own context,
 * over any store; {@link io.github.reactivelock.vertx.VertxLockBackend} keeps the locks in Redis over the Vert.x Redis
 * client, by the protocol in {@code io.github.reactivelock.redis}.
 */
@NullMarked
package io.github.reactivelock.vertx;

import org.jspecify.annotations.NullMarked;
