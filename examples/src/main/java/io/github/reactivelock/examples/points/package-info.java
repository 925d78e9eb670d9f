/**
 * Points of an account that two processes change at the same time. Each ({@code Till}, a JVM of its own) reads the
 * points, computes and writes them. The process that the user starts ({@code Points}) lets them do so without a lock
 * and then under the lock of each store, and counts the points of each account in the end.
 */
@NullMarked
package io.github.reactivelock.examples.points;

import org.jspecify.annotations.NullMarked;
