/**
 * A store in the memory of this process, for tests without a server and for locks that need not leave the process. It
 * implements all of {@link io.github.reactivelock.spi} and knows nothing of the engine.
 */
@NullMarked
package io.github.reactivelock.memory;

import org.jspecify.annotations.NullMarked;
