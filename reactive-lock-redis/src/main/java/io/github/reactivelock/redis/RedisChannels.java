package io.github.reactivelock.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * Shares the channels of one connection among their listeners: a channel is asked for with every listener, so that each
 * hears a confirmation of its own, and left with the last. The map alone decides; it is safe for use by many threads.
 */
final class RedisChannels implements RedisListener {

    /** What a listener hears: a message, or that messages arrive from now on. */
    record Push(boolean isMessage, String text) {}

    // A listener this far behind is broken, and hears so instead of growing without bound.
    private static final int BACKLOG = 4096;
    private static final Push CONFIRMED = new Push(false, "");

    private final ConcurrentHashMap<String, List<FluxSink<Push>>> listeners = new ConcurrentHashMap<>();
    private final RedisConnection connection;
    private final BiFunction<String, Throwable, Throwable> explain;

    RedisChannels(RedisConnection connection, BiFunction<String, Throwable, Throwable> explain) {
        this.connection = connection;
        this.explain = explain;
    }

    Flux<Push> listen(String channel) {
        return Flux.<Push>create(sink -> {
                    var unused = sink.onDispose(() -> leave(channel, sink));
                    join(channel, sink);
                })
                .onBackpressureBuffer(BACKLOG);
    }

    void complete() {
        listeners.values().forEach(sinks -> sinks.forEach(FluxSink::complete));
    }

    @Override
    public void subscribed(String channel) {
        emit(channel, CONFIRMED);
    }

    @Override
    public void message(String channel, String text) {
        emit(channel, new Push(true, text));
    }

    @Override
    public void failed(String channel, Throwable error) {
        Throwable explained = explain.apply(channel, error);
        listeners.getOrDefault(channel, List.of()).forEach(sink -> sink.error(explained));
    }

    private void emit(String channel, Push push) {
        for (FluxSink<Push> sink : listeners.getOrDefault(channel, List.of())) {
            var unused = sink.next(push);
        }
    }

    private void join(String channel, FluxSink<Push> sink) {
        listeners.compute(channel, (name, sinks) -> {
            List<FluxSink<Push>> more = sinks == null ? new ArrayList<>() : new ArrayList<>(sinks);
            more.add(sink);
            return List.copyOf(more);
        });
        connection.subscribe(channel);
    }

    private void leave(String channel, FluxSink<Push> sink) {
        List<FluxSink<Push>> left = listeners.computeIfPresent(channel, (name, sinks) -> {
            List<FluxSink<Push>> fewer = new ArrayList<>(sinks);
            fewer.remove(sink);
            return fewer.isEmpty() ? null : List.copyOf(fewer);
        });
        if (left == null) {
            connection.unsubscribe(channel);
            // Somebody who joined in between may have been unsubscribed by that.
            if (listeners.containsKey(channel)) {
                connection.subscribe(channel);
            }
        }
    }
}
