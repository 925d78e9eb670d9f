/**
 * Redis locks over the Lettuce client: {@link io.github.reactivelock.lettuce.LettuceLockBackend} connects by a URI or
 * uses a client that the application has already. The protocol itself is in {@code io.github.reactivelock.redis}.
 */
@NullMarked
package io.github.reactivelock.lettuce;

import org.jspecify.annotations.NullMarked;
