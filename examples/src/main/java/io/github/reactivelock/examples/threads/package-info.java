/** Code that blocks: two instances whose threads, virtual ones where there are any, share one number. */
@NullMarked
package io.github.reactivelock.examples.threads;

import org.jspecify.annotations.NullMarked;
