package io.github.reactivelock.spi;

import java.time.Duration;

/**
 * One node's answer to a claim.
 *
 * @param result the answer
 * @param incarnation differs between nodes, and between two lives of one node
 * @param uptime how long this incarnation has been up, never too much
 * @param firstWaiting the lowest ticket in the node's queue, to which an owner without a majority gives way
 */
public record Vote(ClaimResult result, String incarnation, Duration uptime, long firstWaiting) {

    /** Stands for no ticket. */
    public static final long NOBODY = Long.MAX_VALUE;

    /**
     * The answer of a node that does not order its queue by tickets.
     *
     * @param result the answer
     * @param incarnation of the node
     * @param uptime of the node
     */
    public Vote(ClaimResult result, String incarnation, Duration uptime) {
        this(result, incarnation, uptime, NOBODY);
    }
}
