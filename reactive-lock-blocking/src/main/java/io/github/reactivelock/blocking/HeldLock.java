package io.github.reactivelock.blocking;

import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockLostException;
import java.time.Duration;
import java.util.List;
import reactor.core.publisher.MonoSink;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * Locks that are held by a section of code: one, or several that were asked for together. Safe for use from any thread.
 * Who got it of {@code acquire} has to close it: a hold that is never closed keeps its lock, renewed, until the longest
 * hold is over or the client is closed.
 */
public final class HeldLock implements AutoCloseable {

    private final List<LockHandle> handles;
    private final Context context;
    private final MonoSink<Void> work;
    private final Section section;

    HeldLock(List<LockHandle> handles, ContextView context, MonoSink<Void> work, Section section) {
        this.handles = List.copyOf(handles);
        this.context = Context.of(context);
        this.work = work;
        this.section = section;
    }

    /**
     * The number to send along with each write, so that the resource can refuse a writer that comes too late.
     *
     * @return the fencing token of the one key
     * @throws IllegalStateException if there are several; ask {@link #handles()} then
     */
    public long fencingToken() {
        if (handles.size() > 1) {
            throw new IllegalStateException("there are " + handles.size()
                    + " keys, each with a fencing token of its own; take that of its handle");
        }
        return handles.get(0).fencingToken();
    }

    /**
     * Whether the holder may act now. Cheap; look before each act that matters.
     *
     * @return false once one of the locks was released or lost
     */
    public boolean isHeld() {
        return handles.stream().allMatch(LockHandle::isHeld);
    }

    /**
     * How long the holder may still act without hearing from the store, by the local monotonic clock.
     *
     * @return the shortest time of all the locks; zero once one of them is over
     */
    public Duration remaining() {
        return handles.stream()
                .map(LockHandle::remaining)
                .min(Duration::compareTo)
                .orElse(Duration.ZERO);
    }

    /**
     * The holds as reactive code sees them, for their states, their loss and renewals.
     *
     * @return in the order of their keys; releasing one of them ends the hold of that key
     */
    public List<LockHandle> handles() {
        return handles;
    }

    /**
     * What makes other code join this hold: reactive code by {@code contextWrite}, code that blocks by
     * {@link BlockingLockClient#within}.
     *
     * @return the Context below the locks
     */
    public ContextView context() {
        return context;
    }

    /**
     * Ends this hold, and waits for the store's answer: for the command timeout at most, not at all if the thread is
     * interrupted or must not block, or the options release in the background. The release then goes on by itself. If
     * one of several locks is over already, an interrupted thread waits too, because that may be a loss. Closing again
     * does nothing.
     *
     * @throws LockLostException if the lock had been lost; an interrupt that told of it is taken back. Not on a thread
     *     that must not block, where nothing is waited for
     */
    @Override
    public void close() {
        section.end();
    }

    void finish() {
        section.finish();
    }

    void finishAfter(Throwable thrown) {
        section.finishAfter(thrown);
    }

    void endWork() {
        work.success();
    }

    @Override
    public String toString() {
        return "HeldLock" + handles;
    }
}
