package io.github.reactivelock.lettuce;

import io.github.reactivelock.spi.support.DriverThreads;
import io.github.reactivelock.spi.support.SilenceClock;
import io.lettuce.core.CommandListenerWriter;
import io.lettuce.core.RedisChannelHandler;
import io.lettuce.core.RedisChannelWriter;
import io.lettuce.core.RedisCommandTimeoutException;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.cluster.api.async.RedisClusterAsyncCommands;
import io.lettuce.core.protocol.CommandExpiryWriter;
import io.lettuce.core.protocol.DefaultEndpoint;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/**
 * Asks every second whether connections still answer, in clients of the application, whose pipelines are not ours. It
 * drops one that does not, so that Lettuce opens it anew. An error is an answer too, but for the client's own limit.
 */
final class PingWatchdog {

    private static final Logger log = LoggerFactory.getLogger(PingWatchdog.class);
    private static final Duration BEAT = Duration.ofSeconds(1);
    private static final Duration LONGEST_SILENCE = Duration.ofSeconds(2);
    /** Before it asks again, where the client gave up. */
    private static final Duration PAUSE = Duration.ofMillis(250);

    private PingWatchdog() {}

    /** @param drop called with one that does not answer */
    static Disposable of(
            Supplier<List<CompletionStage<? extends StatefulRedisConnection<String, String>>>> connections,
            Consumer<StatefulRedisConnection<String, String>> drop) {
        return Flux.interval(BEAT, DriverThreads.timer())
                .onBackpressureDrop()
                .concatMap(beat -> Flux.fromIterable(connections.get()).flatMap(open -> ask(open, drop)), 0)
                .subscribe(answer -> {}, error -> log.warn("connections to Redis are no longer watched", error));
    }

    private static Mono<Void> ask(
            CompletionStage<? extends StatefulRedisConnection<String, String>> opening,
            Consumer<StatefulRedisConnection<String, String>> drop) {
        return Mono.fromCompletionStage(
                        // A copy, so that no cancel ends the opening; and one that can be cancelled.
                        opening.thenApply(Function.identity()).toCompletableFuture())
                .flatMap(connection -> SilenceClock.ofThisProcess()
                        .timeout(
                                Mono.fromCompletionStage(
                                                () -> connection.async().ping())
                                        .then()
                                        .retryWhen(Retry.fixedDelay(Long.MAX_VALUE, PAUSE)
                                                .scheduler(DriverThreads.timer())
                                                .filter(RedisCommandTimeoutException.class::isInstance))
                                        .onErrorComplete(),
                                LONGEST_SILENCE,
                                Mono.fromRunnable(() -> drop.accept(connection))))
                .onErrorComplete(); // it cannot be opened, as its users will learn
    }

    /** Ends a connection so that it is opened anew. */
    static void drop(
            StatefulConnection<String, String> connection, RedisClusterAsyncCommands<String, String> commands) {
        if (!isDropped(connection)) { // the server can close it
            Mono.fromCompletionStage(commands::quit)
                    .subscribe(done -> {}, failure -> log.debug("a connection did not end", failure));
        }
    }

    /** Ends a connection so that Lettuce opens it anew, if its end is not hidden, as that of a whole cluster is. */
    static boolean isDropped(StatefulConnection<String, String> connection) {
        if (connection instanceof RedisChannelHandler<?, ?> handler
                && innermost(handler.getChannelWriter()) instanceof DefaultEndpoint endpoint) {
            endpoint.disconnect();
            return true;
        }
        return false;
    }

    /** Those that have one within are named, because their common type came with Lettuce 7. */
    private static RedisChannelWriter innermost(RedisChannelWriter writer) {
        if (writer instanceof CommandExpiryWriter outer) {
            return innermost(outer.getDelegate());
        }
        return writer instanceof CommandListenerWriter outer ? innermost(outer.getDelegate()) : writer;
    }
}
