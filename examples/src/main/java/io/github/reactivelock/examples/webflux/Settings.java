package io.github.reactivelock.examples.webflux;

import java.time.Duration;

/**
 * The command's settings for the service.
 *
 * @param redis where the locks are
 * @param packing how long an order keeps its item
 */
record Settings(String redis, Duration packing) {}
