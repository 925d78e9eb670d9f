package io.github.reactivelock;

/** Who gets a lock next when several wait for it. */
public enum Fairness {
    /**
     * A process that holds the lock passes it on among its own flows, in their order of arrival and without asking the
     * store, until its budget of passes or of time is spent; then the next process in the store's queue has its turn.
     * The default: by far the fastest under contention.
     */
    COHORT,
    /**
     * Every flow queues at the store itself, and the lock goes to them in order of arrival there over all processes.
     * Where the store says that the next in its order is another flow of the same process, the lock is passed on within
     * the process, within the same budget; that changes nothing of the order. While a process has a lock that it had to
     * wait for, claims of its flows set out together, which can hold one up for a millisecond.
     */
    FIFO
}
