package io.github.reactivelock;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import java.util.concurrent.atomic.AtomicReferenceFieldUpdater;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.concurrent.Queues;

/**
 * Events of one lock, handled one after the other in the order they were posted, without a lock and without a thread of
 * its own: whoever posts to an idle mailbox handles the event in place and empties the mailbox, and others leave theirs to
 * that thread. What an event writes the next one sees.
 */
abstract class Mailbox {

    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);
    private static final AtomicIntegerFieldUpdater<Mailbox> POSTED =
            AtomicIntegerFieldUpdater.newUpdater(Mailbox.class, "posted");

    @SuppressWarnings("rawtypes")
    private static final AtomicReferenceFieldUpdater<Mailbox, Queue> EVENTS =
            AtomicReferenceFieldUpdater.newUpdater(Mailbox.class, Queue.class, "events");

    final String key;
    /** None until an event comes while another is handled, which most mailboxes never see. */
    private volatile @Nullable Queue<Runnable> events;

    @SuppressWarnings("UnusedVariable") // only ever used through POSTED
    private volatile int posted;

    Mailbox(String key) {
        this.key = key;
    }

    public final void post(Runnable event) {
        if (POSTED.compareAndSet(this, 0, 1)) {
            handle(event);
        } else {
            line().offer(event);
            if (POSTED.getAndIncrement(this) != 0) {
                return;
            }
        }
        int handled = 1;
        do {
            Queue<Runnable> left = events;
            for (Runnable next = poll(left); next != null; next = poll(left)) {
                handle(next);
            }
            handled = POSTED.addAndGet(this, -handled);
        } while (handled != 0);
    }

    private Queue<Runnable> line() {
        Queue<Runnable> made = events;
        if (made != null) {
            return made;
        }
        Queue<Runnable> fresh = Queues.<Runnable>unboundedMultiproducer().get();
        if (EVENTS.compareAndSet(this, null, fresh)) {
            return fresh;
        }
        return line();
    }

    private static @Nullable Runnable poll(@Nullable Queue<Runnable> from) {
        return from == null ? null : from.poll();
    }

    private void handle(Runnable event) {
        try {
            event.run();
        } catch (Throwable e) { // an Error too: it would leave the mailbox busy for ever
            log.error("lock '{}': an event could not be handled; please report this", key, e);
        }
    }
}
