/**
 * Shows what happens to a held lock and its token when servers die: on one Redis with a replica that takes over ({@code
 * WithReplica}), and on five servers of which a majority decides ({@code FiveServers}).
 */
@NullMarked
package io.github.reactivelock.examples.failover;

import org.jspecify.annotations.NullMarked;
