package io.github.reactivelock.spi;

import java.time.Duration;

/**
 * One node's answer to a claim.
 *
 * @param result the answer
 * @param incarnation differs between nodes, and between two lives of one node
 * @param uptime how long this incarnation has been up, never too much
 * @param firstWaiting the lowest ticket in the node's queue, to which an owner without a majority gives way
 * @param owner the id of the claim that has the lock at this node where the claim that asks has not, {@link #SHARED}
 *     where several may share it, empty if it is not known
 * @param ownersToken what the node shows as the token of that owner, zero where several may share the lock. A majority
 *     of nodes that name one owner with one token show a grant; with several tokens its votes may only be under way
 */
public record Vote(
        ClaimResult result, String incarnation, Duration uptime, long firstWaiting, String owner, long ownersToken) {

    /** Stands for no ticket. */
    public static final long NOBODY = Long.MAX_VALUE;

    /** Stands for the owners of a shared lock. Not an id of a claim. */
    public static final String SHARED = "=";

    /**
     * The answer of a node that does not order its queue by tickets and does not name an owner.
     *
     * @param result the answer
     * @param incarnation of the node
     * @param uptime of the node
     */
    public Vote(ClaimResult result, String incarnation, Duration uptime) {
        this(result, incarnation, uptime, NOBODY, "", 0);
    }
}
