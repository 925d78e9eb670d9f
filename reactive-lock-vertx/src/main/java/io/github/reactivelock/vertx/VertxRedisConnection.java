package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.HashSlot;
import io.github.reactivelock.redis.Patience;
import io.github.reactivelock.redis.RedisConnection;
import io.github.reactivelock.redis.RedisListener;
import io.github.reactivelock.redis.RedisScript;
import io.github.reactivelock.spi.support.DriverThreads;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.VertxInternal;
import java.util.List;
import java.util.concurrent.RejectedExecutionException;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;

/** One Vert.x connection for commands and one for channels, both on one event loop. */
final class VertxRedisConnection implements RedisConnection {

    private final ContextInternal context;
    private final Opener channelOpener;
    private final Endpoint endpoint;
    private final Commands commands;
    private final Patience patience = new Patience();
    private final Primaries primaries = new Primaries();
    private volatile @Nullable Channels channels;

    /**
     * Opens nothing yet.
     *
     * @param opener opens what scripts run on
     * @param channelOpener opens what messages come on
     * @param mostWaiting how many unanswered commands the client's connections hold at most
     */
    VertxRedisConnection(Vertx vertx, Endpoint endpoint, int mostWaiting, Opener opener, Opener channelOpener) {
        // Code that runs on it has the context class loader of the thread that makes it.
        this.context = DriverThreads.call(() -> ((VertxInternal) vertx).createEventLoopContext());
        this.channelOpener = channelOpener;
        this.endpoint = endpoint;
        this.commands = new Commands(
                context,
                opener,
                this::slot,
                mostWaiting,
                this::demoted,
                this::replaced,
                this::refused,
                endpoint.isCluster() ? primaries::ask : server -> {});
    }

    @Override
    public int database() {
        return endpoint.database();
    }

    @Override
    public String server() {
        return endpoint.server();
    }

    @Override
    public String server(String key) {
        String primary = endpoint.isCluster() ? primaries.of(slot(key)) : "";
        return primary.isEmpty() ? server() : primary + " of " + server();
    }

    @Override
    public String user() {
        return endpoint.user();
    }

    @Override
    public int slot(String key) {
        return endpoint.isCluster() ? HashSlot.of(key) : 0;
    }

    @Override
    public boolean isReady() {
        return commands.isReady();
    }

    @Override
    public boolean wasReady() {
        return commands.wasReady();
    }

    @Override
    public Mono<Void> ready() {
        return Mono.create(commands::awaitReady);
    }

    @Override
    public Mono<List<Object>> eval(RedisScript script, List<String> keys, List<String> args) {
        return Mono.create(sink -> {
            Evaluation evaluation = new Evaluation(script, keys, args, sink);
            sink.onCancel(evaluation::forget);
            commands.add(evaluation);
        });
    }

    @Override
    public boolean knowsListeners() {
        return !endpoint.isCluster();
    }

    @Override
    public void listen(RedisListener listener) {
        channels = new Channels(context, channelOpener, listener, commands::publish);
    }

    @Override
    public void subscribe(String channel) {
        listening().subscribe(channel);
    }

    @Override
    public void reopen(String channel) {
        listening().deaf();
    }

    @Override
    public void unsubscribe(String channel) {
        listening().unsubscribe(channel);
    }

    @Override
    public Mono<Void> close() {
        return Mono.create(sink -> {
            try {
                DriverThreads.run(() -> context.runOnContext(now -> close(sink)));
            } catch (RejectedExecutionException e) {
                // The Vertx is closed, and with it everything that it runs.
                sink.success();
            }
        });
    }

    /** The server has become a replica, and does not end its connections by itself. */
    private void demoted() {
        if (!patience.isOver(System.nanoTime())) {
            return;
        }
        commands.reopen();
        Channels listening = channels;
        if (listening != null) {
            listening.reopen();
        }
    }

    private void refused(Throwable error) {
        Channels listening = channels;
        if (listening != null) {
            listening.stillRefused(error);
        }
    }

    private void replaced() {
        Channels listening = channels;
        if (listening != null) {
            listening.replaced();
        }
    }

    private void close(MonoSink<Void> sink) {
        Channels listening = channels;
        Future.join(commands.close(), listening == null ? context.succeededFuture() : listening.close())
                .onComplete(done -> sink.success());
    }

    private Channels listening() {
        Channels listening = channels;
        if (listening == null) {
            throw new IllegalStateException("no listener for this connection");
        }
        return listening;
    }
}
