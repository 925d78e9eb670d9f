/**
 * What the example shows the shop with: starts its instances as processes, follows them and the store ({@code Board}),
 * and has the page with the switches ({@code Front}). The page's state is {@code Fleet}, the page's words are
 * {@code View}.
 */
@NullMarked
package io.github.reactivelock.examples.webflux.front;

import org.jspecify.annotations.NullMarked;
