package io.github.reactivelock.memory;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockEvent;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.state.LossReason;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.FluxSink;

/**
 * What the store has to tell, in a queue. Any thread may add to it, as the store's atomic steps do; a thread that
 * finds the queue idle delivers it all, so subscribers get one notice at a time and a subscriber that asks the store
 * again does not recurse. Subscriptions go through the same queue, so that what follows one in it is not missed.
 */
final class Notices {

    private record Listener(InMemoryLockBackend connection, FluxSink<Signal> sink) {}

    private record Watcher(InMemoryLockBackend connection, FluxSink<LockEvent> sink) {}

    private static final Logger log = LoggerFactory.getLogger(Notices.class);

    private final Queue<Runnable> queue = new ConcurrentLinkedQueue<>();
    private final AtomicInteger telling = new AtomicInteger();
    /** Events cost nothing without a watcher. */
    private final AtomicInteger watching = new AtomicInteger();

    // Touched only by the thread that delivers.
    private final List<Listener> listeners = new ArrayList<>();
    private final Map<String, List<Watcher>> watchers = new HashMap<>();

    void granted(InMemoryLockBackend to, Claim claim, long token) {
        signal(to, new Signal.Grant(claim.id(), token));
    }

    void forced(InMemoryLockBackend from, Claim claim) {
        signal(from, new Signal.Suspect(claim.id(), LossReason.FORCED));
    }

    void recalled(InMemoryLockBackend from, Claim claim) {
        signal(from, new Signal.Recall(claim.id()));
    }

    void acquired(Claim claim, long token) {
        event(new LockEvent.Acquired(
                claim.key(), claim.owner(), token, claim.share().units()));
    }

    void released(Claim claim, long token) {
        event(new LockEvent.Released(claim.key(), token, claim.share().units()));
    }

    void listen(InMemoryLockBackend connection, FluxSink<Signal> sink) {
        Listener added = new Listener(connection, sink);
        queue.add(() -> {
            if (connection.isOpenFor(sink)) {
                listeners.add(added);
                emit(sink, new Signal.Reconnected());
            }
        });
        sink.onDispose(() -> {
            queue.add(() -> listeners.remove(added));
            tell();
        });
    }

    void watch(InMemoryLockBackend connection, FluxSink<LockEvent> sink, LockInfo first) {
        watching.incrementAndGet();
        queue.add(() -> {
            if (connection.isOpenFor(sink)) {
                watchers.computeIfAbsent(first.key(), key -> new ArrayList<>(1)).add(new Watcher(connection, sink));
                emit(sink, new LockEvent.Snapshot(first));
            }
        });
    }

    void unwatch(String key, FluxSink<LockEvent> sink) {
        watching.decrementAndGet();
        queue.add(() -> watchers.computeIfPresent(key, (k, all) -> {
            all.removeIf(watcher -> watcher.sink() == sink);
            return all.isEmpty() ? null : all;
        }));
    }

    void disconnect(InMemoryLockBackend connection, RuntimeException reason) {
        queue.add(() -> {
            listeners.stream()
                    .filter(listener -> listener.connection() == connection)
                    .forEach(listener -> listener.sink().error(reason));
            watchers.values().stream()
                    .flatMap(List::stream)
                    .filter(watcher -> watcher.connection() == connection)
                    .forEach(watcher -> watcher.sink().error(reason));
        });
    }

    /** Called after an atomic step, never inside one. */
    void tell() {
        if (queue.isEmpty() || telling.getAndIncrement() != 0) {
            return;
        }
        int missed = 1;
        do {
            for (Runnable next = queue.poll(); next != null; next = queue.poll()) {
                try {
                    next.run();
                } catch (RuntimeException e) {
                    log.error("a subscriber to the in-memory store threw", e);
                }
            }
            missed = telling.addAndGet(-missed);
        } while (missed != 0);
    }

    private void signal(InMemoryLockBackend to, Signal signal) {
        queue.add(() -> listeners.stream()
                .filter(listener -> listener.connection() == to)
                .forEach(listener -> emit(listener.sink(), signal)));
    }

    private void event(LockEvent event) {
        if (watching.get() > 0) {
            queue.add(() ->
                    watchers.getOrDefault(event.key(), List.of()).forEach(watcher -> emit(watcher.sink(), event)));
        }
    }

    private static <T> void emit(FluxSink<? super T> sink, T notice) {
        sink.next(notice);
    }
}
