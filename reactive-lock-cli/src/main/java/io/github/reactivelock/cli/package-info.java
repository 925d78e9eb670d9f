/** The program {@code reactive-lock}: looks at the locks of any store, waits for them and ends them. */
@NullMarked
package io.github.reactivelock.cli;

import org.jspecify.annotations.NullMarked;
