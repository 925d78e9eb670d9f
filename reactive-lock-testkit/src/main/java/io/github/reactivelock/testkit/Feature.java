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
    PUSHED_LOSS,
    /** Keeps a lock for its time also when the client that had it is gone. */
    OUTLASTS_CLIENT,
    /** Tells watchers also of an owner that was gone before more than its name could be read. */
    BRIEF_OWNERS,
    /** Says which locks are held. */
    LISTING,
    /** Knows for how long a hold has lasted. */
    AGE_OF_HOLDS,
    /** Shows the owners of the claims that wait. */
    SHOWN_WAITERS,
    /** Knows for how long a claim has waited. */
    AGE_OF_WAITERS,
    /** Keeps claims that share a lock, as readers do. */
    SHARES,
    /** Counts permits of a semaphore. */
    PERMITS
}
