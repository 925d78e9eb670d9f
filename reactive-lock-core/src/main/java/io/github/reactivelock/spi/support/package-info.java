/**
 * What several backends, or those who make them of a URL, need and no caller of a lock sees: identifiers, addresses,
 * driver threads, detached work.
 */
@NullMarked
package io.github.reactivelock.spi.support;

import org.jspecify.annotations.NullMarked;
