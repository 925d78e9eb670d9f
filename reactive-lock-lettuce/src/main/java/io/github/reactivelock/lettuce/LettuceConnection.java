package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisConnection;
import io.github.reactivelock.redis.RedisListener;
import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.publisher.Mono;

/**
 * One Lettuce connection for commands and one for channels. Lettuce reconnects by itself, sends again what was not
 * answered, and subscribes again. Its async interface is used and its futures are never cancelled: a cancelled command
 * that waits for a reconnection is dropped there, and the release behind it would find nothing to undo.
 */
final class LettuceConnection implements RedisConnection {

    private final RedisURI uri;
    private final Mono<Void> closeClient;
    private final LazyConnection<StatefulRedisConnection<String, String>> commands;
    private final LazyConnection<StatefulRedisPubSubConnection<String, String>> channels;
    private final Outbox outbox = new Outbox();
    private final AtomicInteger unanswered = new AtomicInteger();
    private RedisListener listener = new Silent();

    /**
     * Opens nothing yet.
     *
     * @param closeClient what is left to do when both connections are closed
     */
    LettuceConnection(RedisClient client, RedisURI uri, Mono<Void> closeClient) {
        this.uri = uri;
        this.closeClient = closeClient;
        this.commands = new LazyConnection<>(
                () -> client.connectAsync(StringCodec.UTF8, uri).thenCompose(this::withScript));
        this.channels = new LazyConnection<>(
                () -> client.connectPubSubAsync(StringCodec.UTF8, uri).thenApply(this::withListener));
    }

    @Override
    public int database() {
        return uri.getDatabase();
    }

    @Override
    public String server() {
        if (uri.getSentinelMasterId() != null) {
            return "sentinel primary " + uri.getSentinelMasterId();
        }
        return uri.getSocket() != null ? uri.getSocket() : uri.getHost() + ":" + uri.getPort();
    }

    @Override
    public Mono<List<Object>> eval(RedisScript script, List<String> keys, List<String> args) {
        return Mono.create(sink -> {
            Evaluation evaluation = new Evaluation(script, keys, args, sink, unanswered);
            var unused = sink.onCancel(evaluation);
            evaluation.start(commands, outbox);
        });
    }

    @Override
    public void listen(RedisListener listener) {
        this.listener = listener;
    }

    @Override
    public void subscribe(String channel) {
        channels.use(
                connection -> connection.async().subscribe(channel).whenComplete((done, error) -> {
                    if (error != null) {
                        listener.failed(channel, error);
                    }
                }),
                error -> listener.failed(channel, error));
    }

    @Override
    public void unsubscribe(String channel) {
        channels.useIfWanted(connection -> {
            var unused = connection.async().unsubscribe(channel);
        });
    }

    @Override
    public Mono<Void> close() {
        return Mono.defer(() -> Mono.whenDelayError(
                        Mono.fromCompletionStage(commands.close()), Mono.fromCompletionStage(channels.close()))
                .then(closeClient));
    }

    // Loaded ahead of the first use, so that a release can't overtake a claim that has to be sent twice.
    private CompletionStage<StatefulRedisConnection<String, String>> withScript(
            StatefulRedisConnection<String, String> connection) {
        return connection.async().scriptLoad(RedisScript.lock().body()).handle((sha, error) -> {
            outbox.open(connection);
            return connection;
        });
    }

    private StatefulRedisPubSubConnection<String, String> withListener(
            StatefulRedisPubSubConnection<String, String> connection) {
        connection.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void subscribed(String channel, long count) {
                listener.subscribed(channel);
            }

            @Override
            public void message(String channel, String message) {
                listener.message(channel, message);
            }
        });
        return connection;
    }

    private static final class Silent implements RedisListener {
        @Override
        public void subscribed(String channel) {}

        @Override
        public void message(String channel, String text) {}

        @Override
        public void failed(String channel, Throwable error) {}
    }
}
