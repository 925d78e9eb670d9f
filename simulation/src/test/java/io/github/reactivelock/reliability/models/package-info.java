/** The specifications of {@code models/}, checked by TLC, and that their rules are the code's. */
@NullMarked
package io.github.reactivelock.reliability.models;

import org.jspecify.annotations.NullMarked;
