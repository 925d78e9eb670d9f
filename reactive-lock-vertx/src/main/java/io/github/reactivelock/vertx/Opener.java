package io.github.reactivelock.vertx;

import java.util.function.Supplier;

/**
 * How connections are opened.
 *
 * @param next begins to open another one
 * @param isCluster whether it is one to each server of a cluster, as the Vert.x client has it
 */
record Opener(Supplier<Opening> next, boolean isCluster) {}
