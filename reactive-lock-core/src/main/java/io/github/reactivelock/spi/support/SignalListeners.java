package io.github.reactivelock.spi.support;

import io.github.reactivelock.spi.Signal;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/** The subscribers of what a backend finds out by itself and pushes. Safe for use from any thread. */
public final class SignalListeners {

    private final Set<FluxSink<Signal>> sinks = ConcurrentHashMap.newKeySet();

    /** None yet. */
    public SignalListeners() {}

    /**
     * Emits a signal to all who are subscribed now.
     *
     * @param signal kept for each of them until it is asked for
     */
    public void push(Signal signal) {
        for (FluxSink<Signal> sink : sinks) {
            FluxSink<Signal> unused = sink.next(signal);
        }
    }

    /**
     * What is pushed from the subscription on. Cold, and any number may subscribe.
     *
     * @return without end, until {@link #close}
     */
    public Flux<Signal> signals() {
        return Flux.create(sink -> {
            FluxSink<Signal> unused = sink.onDispose(() -> sinks.remove(sink));
            sinks.add(sink);
        });
    }

    /**
     * Ends all who are subscribed now.
     *
     * @param reason their error
     */
    public void close(Throwable reason) {
        sinks.forEach(sink -> sink.error(reason));
    }
}
