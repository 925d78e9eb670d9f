/**
 * Metrics and traces of locks by Micrometer: {@link io.github.reactivelock.micrometer.LockObservations} is the listener
 * to give to a client, {@link io.github.reactivelock.micrometer.LockObservation} and
 * {@link io.github.reactivelock.micrometer.LockMeter} say what it records.
 */
@NullMarked
package io.github.reactivelock.micrometer;

import org.jspecify.annotations.NullMarked;
