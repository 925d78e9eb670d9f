/**
 * A leader among several real processes, elected over etcd. Each candidate ({@code Candidate}, a JVM of its own) acts
 * while it leads. The process the user starts ({@code Leader}) tells one leader to step down, kills two, and observes
 * who takes over.
 */
@NullMarked
package io.github.reactivelock.examples.leader;

import org.jspecify.annotations.NullMarked;
