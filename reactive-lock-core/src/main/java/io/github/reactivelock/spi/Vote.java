package io.github.reactivelock.spi;

import java.time.Duration;

/**
 * One node's answer to a claim.
 *
 * @param result the answer
 * @param incarnation differs between nodes, and between two lives of one node
 * @param uptime how long this incarnation has been up, never too much
 */
public record Vote(ClaimResult result, String incarnation, Duration uptime) {}
