/**
 * Leader election over {@link io.github.reactivelock.LockClient}: one of many candidates leads at a time, under a lock
 * that it queues for in order of arrival. A term is a hold of that lock, and its number is the fencing token.
 */
@NullMarked
package io.github.reactivelock.election;

import org.jspecify.annotations.NullMarked;
