package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisLockBackend;
import io.github.reactivelock.redis.RedisLockOptions;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.netty.channel.Channel;
import io.netty.handler.flush.FlushConsolidationHandler;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * Redis locks over Lettuce; the protocol and its guarantees are those of {@link RedisLockBackend}. Nothing is opened
 * before its first use, which takes one connection for commands and, once somebody waits or watches, a second for
 * messages. Both reconnect by themselves; commands given meanwhile are sent when the connection is back, and may by
 * then have been given up by those who asked.
 */
public final class LettuceLockBackend extends RedisLockBackend {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofMillis(500);

    private LettuceLockBackend(LettuceConnection connection, RedisLockOptions options) {
        super(connection, options);
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param uri {@code redis://[user:password@]host[:port][/database]}, {@code rediss://} for TLS, or any other form
     *     that Lettuce knows; its {@code timeout} parameter bounds how long connecting may take, 2 seconds if it has none
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connect(String uri) {
        return connect(uri, RedisLockOptions.defaults());
    }

    /**
     * A backend with a client of its own, closed with it.
     *
     * @param uri as in {@link #connect(String)}
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend connect(String uri, RedisLockOptions options) {
        RedisURI parsed = parse(uri);
        if (parsed.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION)
                || parsed.getTimeout().isZero()) {
            parsed.setTimeout(CONNECT_TIMEOUT);
        }
        ClientResources resources = ClientResources.builder()
                .ioThreadPoolSize(2)
                .computationThreadPoolSize(2)
                .reconnectDelay(
                        Delay.fullJitter(Duration.ofMillis(10), LONGEST_RECONNECT_DELAY, 10, TimeUnit.MILLISECONDS))
                .nettyCustomizer(new FewFlushes())
                .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                .build();
        RedisClient client = RedisClient.create(resources);
        client.setOptions(ClientOptions.builder()
                // The engine times its commands itself; a timer for each one more would cost and change nothing.
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
                .socketOptions(SocketOptions.builder()
                        .connectTimeout(parsed.getTimeout())
                        .keepAlive(true)
                        .build())
                .build());
        return new LettuceLockBackend(new LettuceConnection(client, parsed, shutdown(client, resources)), options);
    }

    /**
     * A backend over a client of the application, with connections of its own. Closing the backend closes the
     * connections and leaves the client open. How fast they reconnect is up to the client's resources.
     *
     * @param client the application's client
     * @param uri the server to connect to
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend using(RedisClient client, RedisURI uri) {
        return using(client, uri, RedisLockOptions.defaults());
    }

    /**
     * A backend over a client of the application, as {@link #using(RedisClient, RedisURI)}.
     *
     * @param client the application's client
     * @param uri the server to connect to
     * @param options how locks are laid out
     * @return a backend that has not connected yet
     */
    public static LettuceLockBackend using(RedisClient client, RedisURI uri, RedisLockOptions options) {
        return new LettuceLockBackend(new LettuceConnection(client, uri, Mono.empty()), options);
    }

    private static RedisURI parse(String uri) {
        try {
            return RedisURI.create(uri);
        } catch (IllegalArgumentException e) {
            // Neither the text nor the cause is passed on: both may contain the password.
            throw new IllegalArgumentException(
                    "not a Redis URI of the form redis://[user:password@]host[:port][/database]; "
                            + "the text is not repeated because it may hold a password; special characters in it need %-escapes");
        }
    }

    // The resources stop their timer by waiting for its thread, which no event loop should do.
    private static Mono<Void> shutdown(RedisClient client, ClientResources resources) {
        return Mono.fromFuture(() -> client.shutdownAsync(0, 2, TimeUnit.SECONDS))
                .then(Mono.<Void>create(sink ->
                                resources.shutdown(0, 2, TimeUnit.SECONDS).addListener(done -> sink.success()))
                        .subscribeOn(Schedulers.boundedElastic()));
    }

    /** Writes what one turn of the event loop sent with one system call, which saves a quarter of a busy client's work. */
    private static final class FewFlushes implements NettyCustomizer {
        @Override
        public void afterChannelInitialized(Channel channel) {
            channel.pipeline()
                    .addFirst(new FlushConsolidationHandler(
                            FlushConsolidationHandler.DEFAULT_EXPLICIT_FLUSH_AFTER_FLUSHES, true));
        }
    }
}
