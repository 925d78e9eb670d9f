package io.github.reactivelock.spi.support;

import io.github.reactivelock.spi.Signal;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/** The subscribers of what a backend finds out by itself and pushes. Safe for use from any thread. */
public final class SignalListeners {

    private final Set<FluxSink<Signal>> sinks = ConcurrentHashMap.newKeySet();
    private volatile @Nullable Throwable end;

    /** None yet. */
    public SignalListeners() {}

    /**
     * Emits a signal to all who are subscribed now.
     *
     * @param signal kept for each of them until it is asked for
     */
    public void push(Signal signal) {
        for (FluxSink<Signal> sink : sinks) {
            sink.next(signal);
        }
    }

    /**
     * What is pushed from the subscription on. Cold, and any number may subscribe.
     *
     * @return without end, until {@link #close}; after that its error at once
     */
    public Flux<Signal> signals() {
        return Flux.create(sink -> {
            sink.onDispose(() -> sinks.remove(sink));
            sinks.add(sink);
            Throwable reason = end;
            if (reason != null) {
                fail(sink, reason);
            }
        });
    }

    /**
     * Ends all who are subscribed now, and each who comes later.
     *
     * @param reason their error
     */
    public void close(Throwable reason) {
        end = reason;
        sinks.forEach(sink -> fail(sink, reason));
    }

    /** One who comes while this is closed is ended once. */
    private void fail(FluxSink<Signal> sink, Throwable reason) {
        if (sinks.remove(sink)) {
            sink.error(reason);
        }
    }
}
