package io.github.reactivelock.engine.user;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events of one lock, handled one after the other in the order they were posted, without a lock and without a thread of
 * its own: a thread that posts to an idle mailbox handles the event in place and empties the mailbox; others leave
 * their events to that thread. An event sees what the one before it wrote. The posting thread may be a driver's event
 * loop, which has other things to do: after {@value #MOST} events in a row another thread goes on, {@link
 * #goOnElsewhere}.
 *
 * <pre>
 * state     is                    leaves on
 * idle      null                  post -> busy, and the poster handles its event
 * busy      NONE_LEFT             post -> left, and the poster goes its way; the handler has nothing more to do -> idle
 * left      a {@link Left}          post -> left (before the others); the handler takes them all -> busy
 * </pre>
 */
public abstract class Mailbox {

    /**
     * What is handled inside a mailbox, alone with what belongs to that. A task for a thread, of the work scheduler
     * above all, is a {@link Runnable} instead: so neither comes to the place of the other.
     */
    @FunctionalInterface
    public interface Event {
        void handle();
    }

    /** Less than half a millisecond of an event loop's time. */
    static final int MOST = 256;

    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);
    private static final AtomicReferenceFieldUpdater<Mailbox, Left> STATE =
            AtomicReferenceFieldUpdater.newUpdater(Mailbox.class, Left.class, "newest");

    private static final Left NONE_LEFT = new Left(() -> {}, null);

    public final String key;
    private volatile @Nullable Left newest;

    public Mailbox(String key) {
        this.key = key;
    }

    public final void post(Event event) {
        if (STATE.compareAndSet(this, null, NONE_LEFT) || !addUnlessIdle(event)) {
            handle(event);
            handleAll(takeAll(), 1);
        }
    }

    /** Handles the rest soon and in order, on a thread without other duties. */
    public abstract void goOnElsewhere(Runnable rest);

    /**
     * True if another thread, or this one further up, will handle it; false if this one is to, as the mailbox became
     * idle.
     */
    private boolean addUnlessIdle(Event event) {
        while (true) {
            Left before = newest;
            if (before == null) {
                if (STATE.compareAndSet(this, null, NONE_LEFT)) {
                    return false;
                }
            } else if (STATE.compareAndSet(this, before, new Left(event, before))) {
                return true;
            }
        }
    }

    /** The oldest first, each before the next; none if this mailbox is idle now. */
    private @Nullable Left takeAll() {
        if (STATE.compareAndSet(this, NONE_LEFT, null)) {
            return null;
        }
        Left oldest = null;
        for (Left each = STATE.getAndSet(this, NONE_LEFT); each != null && each != NONE_LEFT; ) {
            Left before = each.before;
            each.before = oldest;
            oldest = each;
            each = before;
        }
        return oldest;
    }

    /** Until none is left or so many have been handled in a row that another thread has to go on. */
    private void handleAll(@Nullable Left oldest, int handledBefore) {
        int handled = handledBefore;
        for (Left each = oldest; each != null; handled++) {
            if (handled >= MOST) {
                Left rest = each;
                try {
                    goOnElsewhere(() -> handleAll(rest, 0));
                    return;
                } catch (Throwable e) { // no thread can be had: better this one than none
                    log.warn("lock '{}': its events are handled where they are posted", key, e);
                    handled = 0;
                }
            }
            handle(each.event);
            each = each.before == null ? takeAll() : each.before;
        }
    }

    private void handle(Event event) {
        try {
            event.handle();
        } catch (Throwable e) { // an Error too: it would leave the mailbox busy for ever
            log.error("lock '{}': an event could not be handled; please report this", key, e);
        }
    }

    /** An event that was posted while another was handled. */
    private static final class Left {

        final Event event;

        @Nullable
        Left before;

        Left(Event event, @Nullable Left before) {
            this.event = event;
            this.before = before;
        }
    }
}
