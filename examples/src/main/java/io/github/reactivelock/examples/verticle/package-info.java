/** Two verticles that share work: each invoice is printed once, and the printer is never used by both at once. */
@NullMarked
package io.github.reactivelock.examples.verticle;

import org.jspecify.annotations.NullMarked;
