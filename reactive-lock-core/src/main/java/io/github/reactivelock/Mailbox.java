package io.github.reactivelock;

import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Events of one lock, handled one after the other in the order they were posted, without a lock and without a thread of
 * its own: whoever posts to an idle mailbox handles the event in place and empties the mailbox, and others leave theirs to
 * that thread. What an event writes the next one sees.
 *
 * <pre>
 * state     is                    leaves on
 * idle      null                  post -> busy, and the poster handles its event
 * busy      NONE_LEFT             post -> left, and the poster goes its way; the handler has nothing more to do -> idle
 * left      a {@link Left}          post -> left (before the others); the handler takes them all -> busy
 * </pre>
 */
abstract class Mailbox {

    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);
    private static final AtomicReferenceFieldUpdater<Mailbox, Left> STATE =
            AtomicReferenceFieldUpdater.newUpdater(Mailbox.class, Left.class, "newest");

    private static final Left NONE_LEFT = new Left(() -> {}, null);

    final String key;
    private volatile @Nullable Left newest;

    Mailbox(String key) {
        this.key = key;
    }

    public final void post(Runnable event) {
        if (STATE.compareAndSet(this, null, NONE_LEFT) || !leave(event)) {
            handle(event);
            while (!STATE.compareAndSet(this, NONE_LEFT, null)) {
                handleAll(STATE.getAndSet(this, NONE_LEFT));
            }
        }
    }

    /** True if another thread, or this one further up, will handle it; false if this one is to, as the mailbox became idle. */
    private boolean leave(Runnable event) {
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

    /** The oldest first. */
    private void handleAll(@Nullable Left last) {
        Left oldest = null;
        for (Left each = last; each != null && each != NONE_LEFT; ) {
            Left before = each.before;
            each.before = oldest;
            oldest = each;
            each = before;
        }
        for (Left each = oldest; each != null; each = each.before) {
            handle(each.event);
        }
    }

    private void handle(Runnable event) {
        try {
            event.run();
        } catch (Throwable e) { // an Error too: it would leave the mailbox busy for ever
            log.error("lock '{}': an event could not be handled; please report this", key, e);
        }
    }

    /** An event that was posted while another was handled. */
    private static final class Left {

        final Runnable event;

        @Nullable
        Left before;

        Left(Runnable event, @Nullable Left before) {
            this.event = event;
            this.before = before;
        }
    }
}
