/**
 * A leader among several real processes, elected by a lock in etcd. Each candidate ({@code Candidate}, a JVM of its
 * own) asks for the same lock, and acts while it has it. The process the user starts ({@code Leader}) kills two leaders
 * and watches the next ones take over.
 */
@NullMarked
package io.github.reactivelock.examples.leader;

import org.jspecify.annotations.NullMarked;
