package io.github.reactivelock.examples.webflux;

import java.time.Duration;

/**
 * The command's settings for the tills.
 *
 * @param redis where the locks and the shelf are
 * @param packing how long an order keeps its item
 * @param ownRedis whether Redis may be held up, because nobody else uses it
 */
record Settings(String redis, Duration packing, boolean ownRedis) {}
