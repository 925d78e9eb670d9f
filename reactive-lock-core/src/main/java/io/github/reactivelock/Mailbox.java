package io.github.reactivelock;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicIntegerFieldUpdater;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.util.concurrent.Queues;

/**
 * Events of one lock, handled one after the other in the order they were posted, without a lock and without a thread of
 * its own: whoever posts to an idle mailbox empties it, and others leave theirs to that thread. What an event writes the
 * next one sees.
 */
abstract class Mailbox {

    private static final Logger log = LoggerFactory.getLogger(Mailbox.class);
    private static final AtomicIntegerFieldUpdater<Mailbox> POSTED =
            AtomicIntegerFieldUpdater.newUpdater(Mailbox.class, "posted");

    final String key;
    private final Queue<Runnable> events =
            Queues.<Runnable>unboundedMultiproducer().get();

    @SuppressWarnings("UnusedVariable") // only ever used through POSTED
    private volatile int posted;

    Mailbox(String key) {
        this.key = key;
    }

    public final void post(Runnable event) {
        events.offer(event);
        if (POSTED.getAndIncrement(this) != 0) {
            return;
        }
        int handled = 1;
        do {
            for (Runnable next = events.poll(); next != null; next = events.poll()) {
                handle(next);
            }
            handled = POSTED.addAndGet(this, -handled);
        } while (handled != 0);
    }

    /** An event that waits for the next one that is posted. */
    final void put(Runnable event) {
        events.offer(event);
    }

    private void handle(Runnable event) {
        try {
            event.run();
        } catch (Throwable e) { // an Error too: it would leave the mailbox busy for ever
            log.error("lock '{}': an event could not be handled; please report this", key, e);
        }
    }
}
