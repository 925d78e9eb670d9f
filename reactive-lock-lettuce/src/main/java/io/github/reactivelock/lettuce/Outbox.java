package io.github.reactivelock.lettuce;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.netty.util.concurrent.EventExecutor;
import io.netty.util.concurrent.ImmediateEventExecutor;
import io.netty.util.internal.ThreadExecutorMap;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;
import reactor.util.concurrent.Queues;

/**
 * Sends calls of scripts in the order in which they were added, from any thread. Lettuce alone does not keep that
 * order: a command sent by its event loop overtakes one that another thread has handed to the event loop. One thread
 * sends all calls, at best the event loop itself at the end of its turn. Calls that have piled up by then leave
 * together, as one command for each slot.
 */
final class Outbox implements Runnable {

    private final Queue<Evaluation> waiting =
            Queues.<Evaluation>unboundedMultiproducer().get();
    private final AtomicInteger added = new AtomicInteger();
    private final ToIntFunction<String> slots;
    private volatile EventExecutor loop = ImmediateEventExecutor.INSTANCE;
    private volatile @Nullable RedisClusterAsyncCommands<String, String> commands;

    /** @param slots the part of the store that a key lives in */
    Outbox(ToIntFunction<String> slots) {
        this.slots = slots;
    }

    /** Called once there is a connection, and before anything is sent, on the connection's event loop if possible. */
    void open(StatefulConnection<?, ?> connection, RedisClusterAsyncCommands<String, String> scripts) {
        EventExecutor current = ThreadExecutorMap.currentExecutor();
        loop = current == null ? connection.getResources().eventExecutorGroup().next() : current;
        commands = scripts;
    }

    void send(Evaluation evaluation) {
        waiting.offer(evaluation);
        if (added.getAndIncrement() != 0) {
            return;
        }
        try {
            loop.execute(this);
        } catch (Throwable refused) { // an Error too, or the outbox would never send again
            run(); // and each fails if the connection is closed
        }
    }

    @Override
    public void run() {
        int seen = added.get();
        do {
            List<Evaluation> together = new ArrayList<>();
            for (Evaluation next = waiting.poll(); next != null; next = waiting.poll()) {
                if (!together.isEmpty() && !next.joins(together, slots)) {
                    send(together);
                    together = new ArrayList<>();
                }
                together.add(next);
            }
            if (!together.isEmpty()) {
                send(together);
            }
            seen = added.addAndGet(-seen);
        } while (seen != 0);
    }

    /** Never throws; the callers get the failure. */
    private void send(List<Evaluation> together) {
        try {
            RedisClusterAsyncCommands<String, String> scripts = commands;
            if (scripts == null) {
                throw new IllegalStateException("sent before there was a connection");
            }
            new Dispatch(scripts, together).send();
        } catch (Throwable e) {
            Dispatch.failed(together, e);
        }
    }
}
