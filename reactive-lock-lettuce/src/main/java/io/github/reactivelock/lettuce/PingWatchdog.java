package io.github.reactivelock.lettuce;

import io.github.reactivelock.spi.support.DriverThreads;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.DefaultEndpoint;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Checks every second whether a connection still answers. It drops one that does not, so that Lettuce opens it anew: a
 * primary that was replaced while it was cut off never says so.
 */
final class PingWatchdog {

    private static final Logger log = LoggerFactory.getLogger(PingWatchdog.class);
    private static final Duration BEAT = Duration.ofSeconds(1);
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(2);

    private PingWatchdog() {}

    static Disposable of(
            StatefulConnection<String, String> connection, RedisClusterAsyncCommands<String, String> commands) {
        return Flux.interval(BEAT, DriverThreads.timer())
                .onBackpressureDrop()
                .concatMap(
                        beat -> Mono.fromCompletionStage(commands::ping)
                                .timeout(LONGEST_SILENCE, DriverThreads.timer())
                                .onErrorResume(error -> {
                                    drop(connection, commands);
                                    return Mono.empty();
                                }),
                        0)
                .subscribe(pong -> {}, error -> log.warn("a connection to Redis is no longer watched", error));
    }

    /** Ends a connection so that it is opened anew. */
    static void drop(
            StatefulConnection<String, String> connection, RedisClusterAsyncCommands<String, String> commands) {
        if (connection instanceof RedisChannelHandler<?, ?> handler
                && handler.getChannelWriter() instanceof DefaultEndpoint endpoint) {
            endpoint.disconnect();
        } else {
            // A client with command listeners or timeouts hides its channel; the server can close it.
            var unused = commands.quit();
        }
    }
}
