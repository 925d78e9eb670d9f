/**
 * Real servers for tests: Redis (one, with replicas, Sentinel, Cluster), etcd, PostgreSQL, PgBouncer and MariaDB, each
 * from Docker where there is one, else from a program on the PATH, else from one that comes as a Maven dependency; and
 * {@link io.github.reactivelock.testservers.TcpProxy}, which breaks the network before them. Everything here may block;
 * it is for test threads.
 */
@NullMarked
package io.github.reactivelock.testservers;

import org.jspecify.annotations.NullMarked;
