/** A fleet that may call a slow partner twenty times at once, and one of its processes is killed. */
@NullMarked
package io.github.reactivelock.examples.limits;

import org.jspecify.annotations.NullMarked;
