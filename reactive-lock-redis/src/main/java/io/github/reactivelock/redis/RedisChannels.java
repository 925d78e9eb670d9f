package io.github.reactivelock.redis;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.BiFunction;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.FluxSink;

/**
 * Shares the channels of one connection among their listeners: a channel is asked for until it is confirmed, and left
 * with the last listener. Each hears a confirmation when it joins, and one more whenever the channel was interrupted:
 * the connection asks again for what is listened to. The map alone decides; it is safe for use by many threads.
 */
final class RedisChannels implements RedisListener {

    /** What a listener hears: a message, or that messages arrive from now on. */
    record Push(boolean isMessage, String text) {}

    private static final Logger log = LoggerFactory.getLogger(RedisChannels.class);
    // A listener this far behind is broken, and hears so instead of growing without bound.
    private static final int BACKLOG = 4096;
    private static final String NO_CHANNEL = "";
    private static final Push CONFIRMED = new Push(false, "");

    /** Who listens, how often the channel was confirmed, and whether messages arrive now as far as is known. */
    private record Listeners(List<FluxSink<Push>> sinks, int confirmations, boolean isHeard) {}

    private static final Listeners NONE = new Listeners(List.of(), 0, false);

    private final ConcurrentHashMap<String, Listeners> listeners = new ConcurrentHashMap<>();
    private final Patience patience = new Patience();
    private final AtomicInteger interruptions = new AtomicInteger();
    private volatile boolean replaced;
    private volatile String refusal = "";
    private final RedisConnection connection;
    private final String channel;
    private final BiFunction<String, Throwable, Throwable> explain;

    RedisChannels(RedisConnection connection, String channel, BiFunction<String, Throwable, Throwable> explain) {
        this.connection = connection;
        this.channel = channel;
        this.explain = explain;
    }

    @Override
    public String channel() {
        return channel;
    }

    Flux<Push> listen(String channel) {
        return Flux.<Push>create(sink -> {
                    sink.onDispose(() -> remove(channel, sink));
                    add(channel, sink);
                })
                .onBackpressureBuffer(BACKLOG);
    }

    void complete() {
        listeners.values().forEach(all -> all.sinks().forEach(FluxSink::complete));
    }

    @Override
    public void subscribed(String channel) {
        int before = interruptions.get();
        Listeners heard = listeners.computeIfPresent(
                channel, (name, all) -> new Listeners(all.sinks(), all.confirmations() + 1, all.isHeard()));
        emit(channel, CONFIRMED);
        if (replaced && heard != null && heard.confirmations() == 1) {
            emit(channel, CONFIRMED);
        }
        // Only now: who listens has to know first that something may have been missed.
        listeners.computeIfPresent(
                channel, (name, all) -> new Listeners(all.sinks(), all.confirmations(), interruptions.get() == before));
    }

    @Override
    public void interrupted() {
        interruptions.incrementAndGet();
        listeners.replaceAll((channel, all) -> new Listeners(all.sinks(), all.confirmations(), false));
    }

    /** Whether messages of a channel arrive, as far as is known here. */
    boolean isHeard(String channel) {
        return listeners.getOrDefault(channel, NONE).isHeard();
    }

    /**
     * A first confirmation says that pushes begin, and only a later one that something may have been missed. So where
     * commands went elsewhere before the channel's own connection could break, that first one is followed by another.
     */
    @Override
    public void replaced() {
        replaced = true;
        listeners.forEach((channel, all) -> {
            if (all.confirmations() == 1) {
                emit(channel, CONFIRMED);
            }
        });
    }

    @Override
    public void refused(Throwable error) {
        refusal = String.valueOf(explain.apply(NO_CHANNEL, error).getMessage());
    }

    /** How often a channel was confirmed. */
    int confirmations(String channel) {
        return listeners.getOrDefault(channel, NONE).confirmations();
    }

    /** The server has no subscriber of a channel, said in answer to what was asked after so many confirmations. */
    void deaf(String channel, int confirmations) {
        if (confirmations > 0
                && confirmations == confirmations(channel)
                && patience.isOver(System.nanoTime())) { // a server that counts otherwise answers this always
            log.info("{} has no subscriber of {} any more; it is opened anew", connection.server(), channel);
            connection.reopen(channel);
        }
    }

    /** Why there is no connection now, as it was said last. */
    String refusal() {
        return refusal;
    }

    @Override
    public void message(String channel, String text) {
        emit(channel, new Push(true, text));
    }

    @Override
    public void failed(String channel, Throwable error) {
        Throwable explained = explain.apply(channel, error);
        listeners.getOrDefault(channel, NONE).sinks().forEach(sink -> sink.error(explained));
    }

    private void emit(String channel, Push push) {
        for (FluxSink<Push> sink : listeners.getOrDefault(channel, NONE).sinks()) {
            sink.next(push);
        }
    }

    /** Where others listen already, those get no confirmation: it is a doubt about what was pushed before it. */
    private void add(String channel, FluxSink<Push> sink) {
        Listeners joined = listeners.compute(channel, (name, present) -> {
            Listeners all = present == null ? NONE : present;
            List<FluxSink<Push>> more = new ArrayList<>(all.sinks());
            more.add(sink);
            return new Listeners(List.copyOf(more), all.confirmations(), all.isHeard());
        });
        if (joined.confirmations() == 0) {
            connection.subscribe(channel);
        } else {
            sink.next(CONFIRMED);
        }
        if (sink.isCancelled()) { // perhaps before it had joined, or before the channel was asked for
            remove(channel, sink);
        }
    }

    private void remove(String channel, FluxSink<Push> sink) {
        Listeners left = listeners.computeIfPresent(channel, (name, all) -> {
            List<FluxSink<Push>> fewer = new ArrayList<>(all.sinks());
            fewer.remove(sink);
            return fewer.isEmpty() ? null : new Listeners(List.copyOf(fewer), all.confirmations(), all.isHeard());
        });
        boolean isListenedTo = left != null;
        while (!isListenedTo) {
            connection.unsubscribe(channel);
            if (!listeners.containsKey(channel)) {
                return;
            }
            // A listener that joined in between may have been unsubscribed by that, and may leave before this.
            connection.subscribe(channel);
            isListenedTo = listeners.containsKey(channel);
        }
    }
}
