package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.NeededCommands;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import reactor.core.publisher.Flux;

/** Opens connections, and knows the Redis behind them. */
interface ConnectionSource<C extends StatefulConnection<String, String>> {

    /** Opens a connection that scripts run on. */
    CompletionStage<C> commands();

    /** Runs scripts on a connection of {@link #commands}. */
    RedisClusterAsyncCommands<String, String> scripts(C connection);

    /** Makes the server know a script before its first use. */
    default CompletionStage<?> load(C connection, String script) {
        return scripts(connection).scriptLoad(script);
    }

    /**
     * Asks the server of a connection which {@link NeededCommands} it lacks; of a cluster, the node that has just let
     * this connection in: the driver sends there what names no key.
     */
    default CompletionStage<List<Object>> missing(C connection, String channel) {
        return scripts(connection)
                .<List<Object>>eval(NeededCommands.check().body(), ScriptOutputType.MULTI, new String[0], channel)
                .exceptionally(saysNothingOfThem -> List.of());
    }

    /** Opens a connection for channels. */
    CompletionStage<StatefulRedisPubSubConnection<String, String>> channels();

    /** Whether a {@link SilenceWatch} stands in the pipeline of each connection; else {@link PingWatchdog} asks. */
    boolean isWatched();

    /** The connections to single servers that scripts go over. */
    List<CompletionStage<? extends StatefulRedisConnection<String, String>>> servers(C connection);

    /** The connections to single servers that messages of these channels come on. */
    default List<CompletionStage<? extends StatefulRedisConnection<String, String>>> heardOn(
            StatefulRedisPubSubConnection<String, String> connection, Collection<String> channels) {
        return List.of(CompletableFuture.completedStage(connection));
    }

    /** Subscribes to a channel. */
    default CompletionStage<Void> subscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return connection.async().subscribe(channel);
    }

    /** Unsubscribes from a channel. */
    default CompletionStage<Void> unsubscribe(
            StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return connection.async().unsubscribe(channel);
    }

    /**
     * Emits when the client has to subscribe to its channels again, because other servers have the data and perhaps
     * nothing else showed it.
     */
    Flux<?> moves();

    /** Why a connection could not be opened again, each time that it was tried. */
    Flux<Throwable> refusals(C connection);

    /** As {@link io.github.reactivelock.redis.RedisConnection#server()}. */
    String server();

    /** As {@link io.github.reactivelock.redis.RedisConnection#server(String)}. */
    default String server(String key) {
        return server();
    }

    /** As {@link io.github.reactivelock.redis.RedisConnection#user()}. */
    String user();

    /** As {@link io.github.reactivelock.redis.RedisConnection#database()}. */
    int database();

    /** As {@link io.github.reactivelock.redis.RedisConnection#slot}. */
    int slot(String key);
}
