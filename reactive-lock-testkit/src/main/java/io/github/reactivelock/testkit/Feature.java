package io.github.reactivelock.testkit;

/**
 * A capability that a store may lack. The report then shows each contract case that needs it as skipped, with this as
 * the reason.
 */
public enum Feature {
    /** Serves waiting claims in the order in which they came, over all clients. */
    ARRIVAL_ORDER,
    /** Says which claim it serves directly before one that it puts into its queue. */
    NEIGHBOURS,
    /** Tells a waiting client at once that its claim was granted. */
    PUSHED_GRANTS,
    /** Tells a client that its hold was released by force. */
    PUSHED_LOSS
}
