package io.github.reactivelock;

import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
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

    private final String name;
    private final Queue<Runnable> events =
            Queues.<Runnable>unboundedMultiproducer().get();
    private final AtomicInteger posted = new AtomicInteger();

    Mailbox(String name) {
        this.name = name;
    }

    final void post(Runnable event) {
        events.offer(event);
        if (posted.getAndIncrement() != 0) {
            return;
        }
        int handled = 1;
        do {
            for (Runnable next = events.poll(); next != null; next = events.poll()) {
                handle(next);
            }
            handled = posted.addAndGet(-handled);
        } while (handled != 0);
    }

    private void handle(Runnable event) {
        try {
            event.run();
        } catch (Throwable e) { // an Error too: it would leave the mailbox busy for ever
            log.error("lock '{}': an event could not be handled; please report this", name, e);
        }
    }
}
