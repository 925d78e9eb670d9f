package io.github.reactivelock.lettuce;

import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.pubsub.StatefulRedisPubSubConnection;
import java.util.concurrent.CompletionStage;
import reactor.core.publisher.Flux;

/** Where connections come from, and what is known of the Redis behind them. */
interface ConnectionSource<C extends StatefulConnection<String, String>> {

    /** Opens a connection that scripts run on. */
    CompletionStage<C> commands();

    /** What runs scripts on a connection of {@link #commands}. */
    RedisClusterAsyncCommands<String, String> scripts(C connection);

    /** Makes the server know a script before its first use. */
    default CompletionStage<?> load(C connection, String script) {
        return scripts(connection).scriptLoad(script);
    }

    /** Opens a connection for channels. */
    CompletionStage<StatefulRedisPubSubConnection<String, String>> channels();

    /** Whether a silent connection is better opened anew, because another server may be asked then. */
    boolean hasOthers();

    /** Asks for a channel. */
    default CompletionStage<Void> subscribe(StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return connection.async().subscribe(channel);
    }

    /** Asks for no more messages of a channel. */
    default CompletionStage<Void> unsubscribe(
            StatefulRedisPubSubConnection<String, String> connection, String channel) {
        return connection.async().unsubscribe(channel);
    }

    /** Emits when channels are to be asked for again: other servers have the data, and perhaps nothing else showed it. */
    Flux<?> moves();

    /** As {@link io.github.reactivelock.redis.RedisConnection#server()}. */
    String server();

    /** As {@link io.github.reactivelock.redis.RedisConnection#database()}. */
    int database();

    /** As {@link io.github.reactivelock.redis.RedisConnection#slot}. */
    int slot(String key);
}
