package io.github.reactivelock.lettuce;

import io.lettuce.core.api.StatefulConnection;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.internal.ThreadExecutorMap;
import java.util.Queue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.util.concurrent.Queues;

/**
 * Sends calls of scripts in the order in which they were asked for, whichever threads they come from. Lettuce alone does
 * not keep that order: what its event loop sends overtakes what another thread has handed to the event loop. Everything
 * is sent on one thread, at best the event loop itself, and what piled up meanwhile is sent together.
 */
final class Outbox implements Runnable {

    private final Queue<Evaluation> waiting =
            Queues.<Evaluation>unboundedMultiproducer().get();
    private final AtomicInteger added = new AtomicInteger();
    private volatile EventExecutor loop = ImmediateEventExecutor.INSTANCE;

    /** Called once there is a connection, and before anything is sent, on the connection's event loop if possible. */
    void open(StatefulConnection<?, ?> connection) {
        EventExecutor current = ThreadExecutorMap.currentExecutor();
        loop = current == null ? connection.getResources().eventExecutorGroup().next() : current;
    }

    void send(Evaluation evaluation) {
        waiting.offer(evaluation);
        if (added.getAndIncrement() != 0) {
            return;
        }
        if (loop.inEventLoop()) {
            run();
            return;
        }
        try {
            loop.execute(this);
        } catch (RejectedExecutionException shutDown) {
            run(); // and each is told that the connection is closed
        }
    }

    @Override
    public void run() {
        int seen = added.get();
        do {
            for (Evaluation next = waiting.poll(); next != null; next = waiting.poll()) {
                next.send();
            }
            seen = added.addAndGet(-seen);
        } while (seen != 0);
    }
}
