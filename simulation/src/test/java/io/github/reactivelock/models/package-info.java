/** The specifications of {@code models/}, checked by TLC, and that their rules are the code's. */
@NullMarked
package io.github.reactivelock.models;

import org.jspecify.annotations.NullMarked;
