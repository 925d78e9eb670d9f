package io.github.reactivelock;

import java.time.Duration;
import reactor.util.context.ContextView;

/**
 * One flow's wish for one lock, as a {@link LockListener} sees it. All events of a wish have the same object, which has
 * the equality of objects, so a listener can keep what it needs in a map. A flow that wants several locks has a request
 * for each; an acquisition that joins a hold of its own flow has none. Implemented by the library alone, which may add
 * methods.
 */
public interface LockRequest {

    /** {@return the lock's key, as the user wrote it} */
    String key();

    /** {@return the options it was asked for with} */
    LockOptions options();

    /**
     * The Reactor Context of the subscriber that asked, as it was then. It has what joins the wait and the hold to a
     * trace.
     *
     * @return the Context, without the hold that the request got
     */
    ContextView context();

    /**
     * How long the hold that the request got may be relied upon without hearing from the store, by the local monotonic
     * clock. May be asked at any time, from any thread.
     *
     * @return zero before there is a hold, and once it is over
     */
    Duration remaining();
}
