/**
 * A lock kept by several independent stores, of which a majority decides, so that it outlives the loss of a minority.
 * Depends on the SPI alone and works over any store that is a {@link io.github.reactivelock.spi.QuorumNode}.
 */
@NullMarked
package io.github.reactivelock.quorum;

import org.jspecify.annotations.NullMarked;
