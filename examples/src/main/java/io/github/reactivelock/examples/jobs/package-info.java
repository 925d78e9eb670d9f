/**
 * A job that three processes start by clocks of their own runs once an instant: what it takes, and what is not enough.
 */
@NullMarked
package io.github.reactivelock.examples.jobs;

import org.jspecify.annotations.NullMarked;
