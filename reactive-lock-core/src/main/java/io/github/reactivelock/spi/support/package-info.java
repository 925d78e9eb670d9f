/** What several backends need and no caller of a lock sees: identifiers, driver threads, detached work. */
@NullMarked
package io.github.reactivelock.spi.support;

import org.jspecify.annotations.NullMarked;
