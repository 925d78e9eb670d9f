package io.github.reactivelock.testkit;

/** What a store may be unable to do. A contract case that needs it is then shown as skipped, with this as the reason. */
public enum Feature {
    /** Serves waiting claims in the order in which they came, over all clients. */
    ARRIVAL_ORDER,
    /** Says of a claim that it puts into its queue which one is served directly before. */
    NEIGHBOURS,
    /** Tells a waiting client at once that it was served. */
    PUSHED_GRANTS,
    /** Tells a client that its hold was released by force. */
    PUSHED_LOSS
}
