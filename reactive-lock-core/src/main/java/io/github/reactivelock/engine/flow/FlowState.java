package io.github.reactivelock.engine.flow;

/**
 * Where a flow is, from its first request to its end. It is one word, and every change of it one compare-and-set, so
 * that a grant never meets a flow that has left, and of two that end a flow one wins and acts. A {@link Waiter} has the
 * first five states; a {@link KeysInOrder}, which takes several locks, three more; a {@link LockedWork} all.
 *
 * <pre>
 * state       leaves on                                     and does
 * NEW         first request                                 waits for the (first) key -> WAITING
 * WAITING     the cohort has the lock for it, or it joins
 *             a hold of its own                             -> GRANTED
 *             the end of its time (an event), failure       -> OVER
 * GRANTED     one lock is wanted as a handle                delivers it -> DONE
 *             more keys are wanted                          waits for the next -> TAKING
 * OVER        its turn on the work scheduler                delivers the failure -> DONE
 *             the first key is taken, and work is to be
 *             run instead                                   subscribes to that -> INSTEAD
 * TAKING      a later key is taken                          releases what is held -> YIELDING
 * YIELDING    the releases have answered                    subscribes to what is run instead -> INSTEAD
 * GRANTED     grant of the last key                         calls the work, perhaps later (see Unwinding), and
 * or TAKING                                                 subscribes to it -> STARTING
 *             loss of a key that is held already            stops waiting, gives back -> FAILING
 * STARTING    that call has returned                        -> WORKING
 * or WORKING  the work ends                                 releases -> ENDING
 *             loss, by signal or seen by the clock          cancels the work, gives back -> FAILING
 * FAILING     its turn on the work scheduler                emits the loss -> DONE
 * ENDING      the releases have answered, or at once        emits the work's outcome -> DONE
 *             where they are not awaited
 * INSTEAD     that has ended                                -> ENDING, with nothing to release
 * STARTING    cancel, by another thread or by the work      cancels the work -> LEAVING
 * LEAVING     the call or the cancel has returned           the first -> DONE, the second gives back
 * WORKING     cancel; INSTEAD too                           cancels the work, gives back -> DONE
 * any other   failure to acquire; cancel                    -> DONE, giving back what is held and what comes late
 * </pre>
 *
 * <p>Who moves what:
 *
 * <pre>
 * an event of the key, or the caller of acquire             WAITING -> GRANTED, OVER
 * the thread of the grant, or of the outer lock's work      GRANTED, TAKING -> STARTING -> WORKING
 * any thread that cancels                                   any -> DONE, or STARTING -> LEAVING -> DONE
 * one of the work scheduler, of a loss                      any that has a lock -> FAILING -> DONE
 * the thread that the work ends on                          STARTING, WORKING, INSTEAD -> ENDING
 * that of the last release's answer                         ENDING -> DONE
 * </pre>
 */
enum FlowState {
    NEW,
    WAITING,
    /** It has its turn, of which nothing came yet. */
    GRANTED,
    /** There will be no turn, which the subscriber has not got yet. */
    OVER,
    DONE,
    /** The first lock is held, and others are waited for. */
    TAKING,
    /** A later lock is taken, and those that are held are being released. */
    YIELDING,
    /** Something else than the work is run, without a lock. */
    INSTEAD,
    /** The work is being called and subscribed to. */
    STARTING,
    WORKING,
    ENDING,
    FAILING,
    /** Cancelled while the work is being called. */
    LEAVING;

    /** It waits for a lock, and has not got all of them. */
    boolean isAcquiring() {
        return this == WAITING || this == GRANTED || this == TAKING;
    }

    /** The work runs, or what is run instead. */
    boolean isWorking() {
        return this == STARTING || this == WORKING || this == INSTEAD;
    }
}
