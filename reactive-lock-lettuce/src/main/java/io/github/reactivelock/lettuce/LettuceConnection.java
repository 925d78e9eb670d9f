package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.NeededCommands;
import io.github.reactivelock.redis.Patience;
import io.github.reactivelock.redis.RedisConnection;
import io.github.reactivelock.redis.RedisListener;
import io.github.reactivelock.redis.RedisRefusal;
import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.RedisConnectionStateListener;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.pubsub.RedisPubSubAdapter;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;

/**
 * One Lettuce connection for commands and one for channels. Lettuce reconnects by itself, sends commands without an
 * answer again, and subscribes again. This class uses the async interface and never cancels its futures: Lettuce would
 * drop a cancelled command that waits for a reconnection, and the release behind it would find nothing to undo.
 */
final class LettuceConnection<C extends StatefulConnection<String, String>> implements RedisConnection {

    private static final Logger log = LoggerFactory.getLogger(LettuceConnection.class);

    private final ConnectionSource<C> source;
    private final Mono<Void> closeClient;
    private final LazyConnection<C> commands;
    private final LazyConnection<StatefulRedisPubSubConnection<String, String>> channels;
    private final Outbox outbox;
    private final Presence presence = new Presence();
    private final AtomicInteger unanswered = new AtomicInteger();
    private final Set<String> wanted = ConcurrentHashMap.newKeySet();
    private final ReplicaWait<C> replicas;
    private final Disposable.Swap channelWatch = Disposables.swap();
    private final Disposable.Composite watches = Disposables.composite(channelWatch);
    private final Patience patience = new Patience();
    /** What channels come on is silent, and has been asked for them again. */
    private volatile boolean silent;

    private RedisListener listener = new Silent();

    /**
     * Opens nothing yet.
     *
     * @param closeClient called when both connections are closed
     */
    LettuceConnection(ConnectionSource<C> source, Mono<Void> closeClient) {
        this.source = source;
        this.closeClient = closeClient;
        this.outbox = new Outbox(source::slot);
        this.replicas = new ReplicaWait<>(source);
        this.commands = new LazyConnection<>(
                () -> source.commands().thenCompose(this::withScript), error -> listener.refused(error));
        this.channels = new LazyConnection<>(() -> source.channels().thenApply(this::withListener));
    }

    @Override
    public int database() {
        return source.database();
    }

    @Override
    public String server() {
        return source.server();
    }

    @Override
    public String server(String key) {
        return source.server(key);
    }

    @Override
    public String user() {
        return source.user();
    }

    @Override
    public int slot(String key) {
        return source.slot(key);
    }

    @Override
    public boolean isReady() {
        return presence.isPresent();
    }

    @Override
    public boolean wasReady() {
        return presence.wasPresent();
    }

    @Override
    public Mono<Void> ready() {
        return Mono.create(sink -> commands.use(connection -> presence.await(sink), sink::error));
    }

    @Override
    public Mono<List<Object>> eval(RedisScript script, List<String> keys, List<String> args) {
        return Mono.create(sink -> {
            Evaluation evaluation = new Evaluation(script, keys, args, sink, unanswered, this::demoted);
            sink.onCancel(evaluation);
            evaluation.start(commands, outbox);
        });
    }

    @Override
    public Mono<List<Object>> evalAndWait(
            RedisScript script, List<String> keys, List<String> args, int count, Duration timeout) {
        return replicas.eval(script, keys, args, count, timeout);
    }

    @Override
    public boolean waitsForReplicas() {
        return !(source instanceof Cluster);
    }

    @Override
    public boolean hasShardedChannels() {
        return source instanceof Cluster cluster && cluster.sharded();
    }

    @Override
    public boolean knowsListeners() {
        return !(source instanceof Cluster);
    }

    @Override
    public void listen(RedisListener listener) {
        this.listener = listener;
    }

    @Override
    public void subscribe(String channel) {
        wanted.add(channel);
        ask(channel);
    }

    private void ask(String channel) {
        channels.use(
                connection -> source.subscribe(connection, channel).whenComplete((done, error) -> {
                    if (error != null) {
                        listener.failed(channel, error);
                    }
                }),
                error -> listener.failed(channel, error));
    }

    @Override
    public void reopen(String channel) {
        channels.useIfWanted(connection -> source.heardOn(connection, List.of(channel))
                .forEach(opening -> {
                    opening.thenAccept(heardOn -> reopen(connection, heardOn));
                }));
    }

    /**
     * One that hides its end is replaced, and with it the whole that it belongs to. Perhaps there is no other to be
     * had, so until then it counts as gone.
     */
    private void reopen(
            StatefulRedisPubSubConnection<String, String> whole, StatefulRedisConnection<String, String> heardOn) {
        if (PingWatchdog.isDropped(heardOn) || !channels.isInUse(whole)) {
            return;
        }
        if (!silent) {
            silent = true;
            listener.interrupted();
            wanted.forEach(channel -> askInSilence(whole, channel));
        }
        channels.replace(whole, this::askAnew);
    }

    /** If it is heard after all, this is answered, also when the client no longer waits for that. */
    private void askInSilence(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        source.subscribe(connection, channel).whenComplete((done, error) -> {
            if (error != null && !(error instanceof RedisCommandTimeoutException) && channels.isInUse(connection)) {
                listener.failed(channel, error);
            }
        });
    }

    /** What was pushed on the connection before this one may be lost. */
    private void askAnew() {
        listener.interrupted();
        wanted.forEach(this::ask);
    }

    @Override
    public void unsubscribe(String channel) {
        wanted.remove(channel);
        channels.useIfWanted(connection -> {
            source.unsubscribe(connection, channel);
        });
    }

    @Override
    public Mono<Void> close() {
        return Mono.defer(() -> {
            watches.dispose();
            return Mono.whenDelayError(
                            Mono.fromCompletionStage(commands.close()),
                            Mono.fromCompletionStage(channels.close()),
                            Mono.fromCompletionStage(replicas.close()))
                    .then(closeClient);
        });
    }

    // Loaded ahead of the first use, so that a release can't overtake a claim that has to be sent twice.
    private CompletionStage<C> withScript(C connection) {
        Disposable watch = Disposables.disposed();
        if (!source.isWatched()) { // before the script: the server may be gone before it takes that
            watch = PingWatchdog.of(
                    () -> source.servers(connection), server -> PingWatchdog.drop(server, server.async()));
            watches.add(watch);
        }
        Disposable watched = watch;
        CompletionStage<?> loaded =
                source.load(connection, RedisScript.lock().body()).handle((sha, error) -> connection);
        return loaded.thenCombine(source.missing(connection, listener.channel()), (open, missing) -> {
            for (RuntimeException refusal : NeededCommands.refusals(missing)) {
                watched.dispose();
                LazyConnection.discard(connection);
                throw refusal;
            }
            outbox.open(connection, source.scripts(connection));
            // Holds come over this connection, so from now on no move may be missed. When a channel is confirmed again,
            // every listener checks its waiting claims and holds again.
            watches.add(source.moves()
                    .subscribe(
                            move -> {
                                listener.replaced();
                                wanted.forEach(this::ask);
                            },
                            failure -> log.warn("changes of the cluster are no longer noticed", failure)));
            watches.add(source.refusals(connection)
                    .subscribe(
                            this::refused,
                            failure -> log.warn("it is no longer told why a connection is not opened again", failure)));
            presence.begin(connection, () -> listener.replaced());
            return connection;
        });
    }

    private StatefulRedisPubSubConnection<String, String> withListener(
            StatefulRedisPubSubConnection<String, String> connection) {
        connection.addListener(new RedisPubSubAdapter<>() {
            @Override
            public void subscribed(String channel, long count) {
                confirmed(connection, channel);
            }

            @Override
            public void message(String channel, String message) {
                listener.message(channel, message);
            }

            @Override
            public void ssubscribed(String channel, long count) {
                confirmed(connection, channel);
            }

            @Override
            public void smessage(String channel, String message) {
                listener.message(channel, message);
            }

            @Override
            public void sunsubscribed(String channel, long count) {
                // Its slot moved, unless it was us.
                if (wanted.contains(channel)) {
                    ask(channel);
                }
            }
        });
        connection.addListener(new RedisConnectionStateListener() {
            @Override
            public void onRedisDisconnected(RedisChannelHandler<?, ?> ended) {
                if (channels.isInUse(connection)) {
                    listener.interrupted();
                }
            }
        });
        if (!source.isWatched()) {
            channelWatch.update(
                    PingWatchdog.of(() -> source.heardOn(connection, wanted), heardOn -> reopen(connection, heardOn)));
        }
        return connection;
    }

    private void confirmed(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        if (channels.isInUse(connection)) {
            silent = false;
            listener.subscribed(channel);
            if (!channels.isInUse(connection)) { // replaced meanwhile
                askAnew();
            }
        }
    }

    /** A refusal that passes, and silence, are waited out. */
    private void refused(Throwable error) {
        listener.refused(error);
        if (RedisRefusal.of(error) == RedisRefusal.LASTS) {
            presence.refused(error);
        }
    }

    /** The server has become a replica, and does not end its connections by itself. */
    private void demoted() {
        if (!patience.isOver(System.nanoTime())) {
            return;
        }
        commands.useIfWanted(connection -> PingWatchdog.drop(connection, source.scripts(connection)));
        channels.useIfWanted(connection -> reopen(connection, connection));
    }

    private static final class Silent implements RedisListener {
        @Override
        public String channel() {
            return "";
        }

        @Override
        public void subscribed(String channel) {}

        @Override
        public void message(String channel, String text) {}

        @Override
        public void failed(String channel, Throwable error) {}

        @Override
        public void replaced() {}

        @Override
        public void refused(Throwable error) {}
    }
}
