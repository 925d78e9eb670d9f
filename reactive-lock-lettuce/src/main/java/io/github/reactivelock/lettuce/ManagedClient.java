package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisConnection;
import io.github.reactivelock.spi.support.DriverThreads;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SocketOptions;
import io.lettuce.core.SslOptions;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.TimeoutOptions;
import io.lettuce.core.api.StatefulConnection;
import io.lettuce.core.cluster.ClusterClientOptions;
import io.lettuce.core.cluster.ClusterTopologyRefreshOptions;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.metrics.CommandLatencyRecorder;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.DefaultEventLoopGroupProvider;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.NettyCustomizer;
import io.lettuce.core.resource.ThreadFactoryProvider;
import io.netty.bootstrap.Bootstrap;
import io.netty.channel.Channel;
import io.netty.channel.ChannelHandlerContext;
import io.netty.channel.ChannelInboundHandlerAdapter;
import io.netty.handler.flush.FlushConsolidationHandler;
import io.netty.util.concurrent.DefaultThreadFactory;
import io.netty.util.concurrent.Future;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.publisher.Mono;

/**
 * Clients that a backend makes for itself. They reconnect quickly and close with the backend. Both connections to one
 * server share a thread, because a command mostly follows a pushed grant and then wakes no other thread. The servers of
 * a cluster share two.
 */
final class ManagedClient {

    private static final Duration CONNECT_TIMEOUT = Duration.ofSeconds(2);
    private static final Duration LONGEST_RECONNECT_DELAY = Duration.ofMillis(500);
    // The first command that fails finds a shard that failed over; the period is for all other changes.
    private static final Duration TOPOLOGY_PERIOD = Duration.ofSeconds(10);
    private static final Duration TOPOLOGY_PAUSE = Duration.ofMillis(500);

    private ManagedClient() {}

    static LettuceConnection<?> ofServer(RedisURI given, Manner like) {
        return DriverThreads.call(() -> {
            RedisURI uri = timed(given);
            ClientResources resources = resources(1, like);
            RedisClient client = new AsyncClient(resources, uri);
            client.setOptions(options(uri, like));
            return connection(new OneServer(client, uri, OneServer.name(uri), true), client, resources);
        });
    }

    static LettuceConnection<?> ofPrimary(List<RedisURI> given, Manner like) {
        return DriverThreads.call(() -> {
            List<RedisURI> servers = timed(given);
            ClientResources resources = resources(1, like);
            PrimaryClient client = new PrimaryClient(resources, servers);
            client.setOptions(options(servers.get(0), like));
            String name = "primary of " + PrimaryClient.hosts(servers);
            return connection(new OneServer(client, client.primary(), name, true), client, resources);
        });
    }

    static LettuceConnection<?> ofCluster(List<RedisURI> given, Manner like, boolean sharded) {
        return DriverThreads.call(() -> {
            List<RedisURI> seeds = timed(given);
            String server = "cluster " + PrimaryClient.hosts(seeds);
            seeds.forEach(seed -> RedisConnection.requireNoDatabase(seed.getDatabase(), server));
            ClientResources resources = resources(2, like);
            RedisClusterClient client = RedisClusterClient.create(resources, seeds);
            client.setOptions(clusterOptions(options(seeds.get(0), like))
                    .topologyRefreshOptions(ClusterTopologyRefreshOptions.builder()
                            .adaptiveRefreshTriggersTimeout(TOPOLOGY_PAUSE)
                            .refreshTriggersReconnectAttempts(2)
                            .enablePeriodicRefresh(TOPOLOGY_PERIOD)
                            .build())
                    .build());
            return connection(
                    new Cluster(client, server, () -> KnownUser.of(seeds.get(0)), true, sharded), client, resources);
        });
    }

    private static <C extends StatefulConnection<String, String>> LettuceConnection<C> connection(
            ConnectionSource<C> source, AbstractRedisClient client, ClientResources resources) {
        return new LettuceConnection<>(source, shutdown(client, resources));
    }

    /** How connections are made: options, and resources that are asked for addresses and never shut down here. */
    record Manner(ClientOptions options, @Nullable ClientResources resources) {

        static Manner of(SslOptions tls) {
            return new Manner(ClientOptions.builder().sslOptions(tls).build(), null);
        }
    }

    private static ClusterClientOptions.Builder clusterOptions(ClientOptions options) {
        return options instanceof ClusterClientOptions cluster
                ? cluster.mutate()
                : ClusterClientOptions.builder(options);
    }

    private static ClientResources resources(int threads, Manner like) {
        ThreadFactoryProvider factories = Threads::new;
        ClientResources given = like.resources();
        ClientResources.Builder builder = ClientResources.builder();
        if (given != null) {
            builder = builder.addressResolverGroup(given.addressResolverGroup())
                    .socketAddressResolver(given.socketAddressResolver());
        }
        return builder.threadFactoryProvider(factories)
                // Not as a number: Lettuce makes two of one.
                .eventLoopGroupProvider(new DefaultEventLoopGroupProvider(threads, factories))
                .computationThreadPoolSize(2)
                .reconnectDelay(
                        Delay.fullJitter(Duration.ofMillis(10), LONGEST_RECONNECT_DELAY, 10, TimeUnit.MILLISECONDS))
                .nettyCustomizer(new Pipeline(given == null ? new NettyCustomizer() {} : given.nettyCustomizer()))
                .commandLatencyRecorder(CommandLatencyRecorder.disabled())
                .build();
    }

    private static ClientOptions options(RedisURI uri, Manner like) {
        SocketOptions sockets = like.options().getSocketOptions();
        Duration connecting = sockets.getConnectTimeout().compareTo(uri.getTimeout()) < 0
                ? sockets.getConnectTimeout()
                : uri.getTimeout();
        return like.options()
                .mutate()
                .autoReconnect(true)
                .disconnectedBehavior(ClientOptions.DisconnectedBehavior.DEFAULT)
                .publishOnScheduler(false)
                // The engine times its commands itself; one more timer for each would only cost.
                .timeoutOptions(TimeoutOptions.builder().timeoutCommands(false).build())
                // No word about keep-alive, which would exchange the driver's own one of seconds for the system's of
                // hours.
                .socketOptions(sockets.mutate().connectTimeout(connecting).build())
                // Ends before the limit of the whole opening, which would report silence.
                .sslOptions(like.options()
                        .getSslOptions()
                        .mutate()
                        .handshakeTimeout(uri.getTimeout().multipliedBy(3).dividedBy(4))
                        .build())
                .build();
    }

    static List<RedisURI> parse(List<String> uris) {
        return uris.stream().map(ManagedClient::parse).toList();
    }

    private static List<RedisURI> timed(List<RedisURI> uris) {
        if (uris.isEmpty()) {
            throw new IllegalArgumentException("at least one Redis URI is needed");
        }
        return uris.stream().map(ManagedClient::timed).toList();
    }

    /** A copy that says how long connecting may take. */
    private static RedisURI timed(RedisURI uri) {
        RedisURI.Builder copy = RedisURI.builder(uri);
        if (uri.getSentinelMasterId() != null) {
            copy.withSentinelMasterId(uri.getSentinelMasterId());
        }
        uri.getSentinels()
                .forEach(
                        sentinel -> copy.withSentinel(RedisURI.builder(sentinel).build()));
        RedisURI timed = copy.build();
        timed.setCredentialsProvider(KnownUser.of(timed.getCredentialsProvider()));
        if (timed.getTimeout().equals(RedisURI.DEFAULT_TIMEOUT_DURATION)
                || timed.getTimeout().isZero()) {
            timed.setTimeout(CONNECT_TIMEOUT);
        }
        return timed;
    }

    static RedisURI parse(String uri) {
        RedisURI parsed;
        try {
            parsed = RedisURI.create(uri);
        } catch (IllegalArgumentException e) {
            // The message contains neither the URI nor the cause: both may contain the password.
            throw new IllegalArgumentException(
                    "not a Redis URI of the form redis://[user:password@]host[:port][/database]; the text is not"
                            + " repeated because it may hold a password; special characters in it need %-escapes");
        }
        resolveCredentials(parsed);
        parsed.getSentinels().forEach(ManagedClient::resolveCredentials);
        return parsed;
    }

    /**
     * The URI has the credentials, but Lettuce asks for them on a thread of the common pool. From there a refused
     * password races the closing of its connection, and may look like a server that cannot be reached.
     */
    private static void resolveCredentials(RedisURI uri) {
        Disposable unused = uri.getCredentialsProvider()
                .resolveCredentials()
                .subscribe(found -> uri.setCredentialsProvider(new StaticCredentialsProvider(found)));
    }

    // The resources wait for the timer's thread when they stop it, which no event loop should do. They leave given
    // threads alone.
    private static Mono<Void> shutdown(AbstractRedisClient client, ClientResources resources) {
        return Mono.fromFuture(() -> DriverThreads.call(() -> client.shutdownAsync(0, 2, TimeUnit.SECONDS)))
                .then(ended(() -> resources.shutdown(0, 2, TimeUnit.SECONDS)).subscribeOn(DriverThreads.mayBlock()))
                .then(ended(() -> resources.eventLoopGroupProvider().shutdown(0, 2, TimeUnit.SECONDS)))
                // Netty's global thread has no context class loader; later callbacks would pass that on to their
                // threads.
                .publishOn(DriverThreads.mayBlock());
    }

    private static Mono<Void> ended(Supplier<Future<Boolean>> shutdown) {
        return Mono.create(sink -> DriverThreads.call(shutdown).addListener(done -> sink.success()));
    }

    /**
     * All that one turn of the event loop sends leaves with one system call, which saves a quarter of a busy client's
     * work.
     */
    private record Pipeline(NettyCustomizer given) implements NettyCustomizer {

        @Override
        public void afterBootstrapInitialized(Bootstrap bootstrap) {
            given.afterBootstrapInitialized(bootstrap);
        }

        @Override
        public void afterChannelInitialized(Channel channel) {
            channel.pipeline()
                    .addFirst(
                            new FlushConsolidationHandler(
                                    FlushConsolidationHandler.DEFAULT_EXPLICIT_FLUSH_AFTER_FLUSHES, true),
                            new ResetAsEnd(),
                            SilenceWatch.ofAll());
            given.afterChannelInitialized(channel);
        }
    }

    /**
     * For clients of the application: a reset is like any other end of a connection. Lettuce sends commands without an
     * answer again, in their order, but would fail the first of them if it saw the reset. A connection for channels
     * that is silent is left.
     */
    static NettyCustomizer forClientsOfOthers() {
        return new NettyCustomizer() {
            @Override
            public void afterChannelInitialized(Channel channel) {
                channel.pipeline().addFirst(new ResetAsEnd(), SilenceWatch.ofChannels());
            }
        };
    }

    /** Also those that Lettuce or Netty make later, on any thread. */
    private static final class Threads extends DefaultThreadFactory {
        Threads(String pool) {
            super(pool, true);
        }

        @Override
        protected Thread newThread(Runnable task, String name) {
            return DriverThreads.call(() -> super.newThread(task, name));
        }
    }

    private static final class ResetAsEnd extends ChannelInboundHandlerAdapter {
        @Override
        public void exceptionCaught(ChannelHandlerContext context, Throwable error) {
            if (error instanceof IOException) {
                var unused = context.close();
            } else {
                context.fireExceptionCaught(error);
            }
        }
    }
}
