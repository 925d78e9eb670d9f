/** A consumer of partitions that takes the same locks again and again, without and with the lock that stays. */
@NullMarked
package io.github.reactivelock.examples.partitions;

import org.jspecify.annotations.NullMarked;
