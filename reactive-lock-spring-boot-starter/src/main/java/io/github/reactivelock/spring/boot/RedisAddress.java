package io.github.reactivelock.spring.boot;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.lettuce.core.AbstractRedisClient;
import io.lettuce.core.ClientOptions;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.StaticCredentialsProvider;
import io.lettuce.core.cluster.RedisClusterClient;
import io.lettuce.core.codec.RedisCodec;
import io.lettuce.core.resource.ClientResources;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails;
import org.springframework.boot.data.redis.autoconfigure.DataRedisConnectionDetails.Node;
import org.springframework.boot.ssl.SslBundle;
import org.springframework.data.redis.connection.RedisClusterConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration;
import org.springframework.data.redis.connection.RedisConfiguration.WithAuthentication;
import org.springframework.data.redis.connection.RedisSentinelConfiguration;
import org.springframework.data.redis.connection.RedisSocketConfiguration;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.RedisStaticMasterReplicaConfiguration;
import org.springframework.data.redis.connection.jedis.JedisConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceClientConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.data.redis.connection.lettuce.LettuceConverters;

/**
 * A Redis as Lettuce knows it.
 *
 * @param kind what the addresses are
 * @param uris with credentials and, where the application has it, TLS
 * @param like options of the application's connections; certificates, protocols and ciphers at least
 * @param resources that the application makes its connections with; null if it says none
 * @param factory whose client may be shared; null if there is none
 */
record RedisAddress(
        Kind kind,
        List<RedisURI> uris,
        ClientOptions like,
        @Nullable ClientResources resources,
        @Nullable LettuceConnectionFactory factory) {

    private RedisAddress(
            Kind kind,
            List<RedisURI> uris,
            LettuceClientConfiguration client,
            @Nullable LettuceConnectionFactory factory) {
        this(
                kind,
                uris,
                client.getClientOptions().orElseGet(ClientOptions::create),
                client.getClientResources().orElse(null),
                factory);
    }

    /** What the addresses are. */
    enum Kind {
        /** One server, or the sentinels of one. */
        SERVER,
        /** A primary and its replicas. */
        PRIMARY,
        /** Nodes of a cluster. */
        CLUSTER
    }

    static RedisAddress of(LettuceConnectionFactory factory) {
        LettuceClientConfiguration client = factory.getClientConfiguration();
        RedisClusterConfiguration cluster = factory.getClusterConfiguration();
        if (cluster != null) {
            return new RedisAddress(Kind.CLUSTER, uris(cluster, client), client, factory);
        }
        RedisSentinelConfiguration sentinel = factory.getSentinelConfiguration();
        RedisSocketConfiguration socket = factory.getSocketConfiguration();
        RedisURI uri;
        if (sentinel != null) {
            uri = uri(sentinel, client);
        } else if (socket != null) {
            uri = RedisURI.Builder.socket(socket.getSocket()).build();
            complete(uri, socket, client);
        } else {
            uri = uri(factory.getStandaloneConfiguration(), client);
        }
        uri.setDatabase(factory.getDatabase());
        return new RedisAddress(Kind.SERVER, List.of(uri), client, factory);
    }

    /**
     * Where a factory of Jedis connects to.
     *
     * @param bundle how it secures its connections, if it does
     */
    static RedisAddress of(JedisConnectionFactory factory, @Nullable SslBundle bundle) {
        LettuceClientConfiguration client = asLettuce(factory, bundle);
        RedisClusterConfiguration cluster = factory.getClusterConfiguration();
        if (cluster != null) {
            return new RedisAddress(Kind.CLUSTER, uris(cluster, client), client, null);
        }
        RedisSentinelConfiguration sentinel = factory.getSentinelConfiguration();
        RedisURI uri = sentinel == null
                ? uri(Objects.requireNonNull(factory.getStandaloneConfiguration(), "one server"), client)
                : uri(sentinel, client);
        uri.setDatabase(factory.getDatabase());
        return new RedisAddress(Kind.SERVER, List.of(uri), client, null);
    }

    private static LettuceClientConfiguration asLettuce(JedisConnectionFactory factory, @Nullable SslBundle bundle) {
        var client = LettuceClientConfiguration.builder().clientOptions(options(bundle));
        String name = factory.getClientName();
        if (name != null) {
            client.clientName(name);
        }
        if (factory.isUseSsl()) {
            var unused = client.useSsl();
        }
        return client.build();
    }

    private static List<RedisURI> uris(RedisClusterConfiguration cluster, LettuceClientConfiguration client) {
        List<RedisURI> nodes = cluster.getClusterNodes().stream()
                .map(node -> uri(node.getRequiredHost(), node.getRequiredPort()))
                .toList();
        nodes.forEach(node -> complete(node, cluster, client));
        return nodes;
    }

    private static RedisURI uri(RedisSentinelConfiguration sentinel, LettuceClientConfiguration client) {
        RedisURI uri = LettuceConverters.sentinelConfigurationToRedisURI(sentinel);
        uri.getSentinels().forEach(one -> secure(one, client));
        client.getRedisCredentialsProviderFactory()
                .map(made -> made.createSentinelCredentialsProvider(sentinel))
                .ifPresent(made -> uri.getSentinels().forEach(one -> one.setCredentialsProvider(made)));
        complete(uri, sentinel, client);
        return uri;
    }

    private static RedisURI uri(RedisStandaloneConfiguration server, LettuceClientConfiguration client) {
        RedisURI uri = uri(server.getHostName(), server.getPort());
        complete(uri, server, client);
        return uri;
    }

    /**
     * Whether a factory says where it connects to. One for static replicas, or for a configuration unknown here, shows
     * the address of one server all the same: the one that a new configuration has, on localhost.
     */
    static boolean isShownBy(LettuceConnectionFactory factory) {
        if (factory.getClusterConfiguration() != null
                || factory.getSentinelConfiguration() != null
                || factory.getSocketConfiguration() != null) {
            return true;
        }
        return factory.isRunning()
                ? factory.getNativeClient() instanceof RedisClient client && hasAddress(client)
                : usesWhatItShows(factory);
    }

    /** For a factory that has not begun: if it uses what it shows, it reflects a change made there for a moment. */
    private static boolean usesWhatItShows(LettuceConnectionFactory factory) {
        RedisStandaloneConfiguration shown = factory.getStandaloneConfiguration();
        int database = shown.getDatabase();
        shown.setDatabase(database + 1);
        boolean uses = factory.getDatabase() == database + 1;
        shown.setDatabase(database);
        return uses;
    }

    /** A client without an address refuses before it looks at what it is to connect with; nothing is opened. */
    private static boolean hasAddress(RedisClient client) {
        try {
            client.connect((RedisCodec<String, String>) null);
            return true;
        } catch (IllegalStateException none) {
            return false;
        } catch (IllegalArgumentException noCodec) {
            return true;
        }
    }

    private static <C extends RedisConfiguration & WithAuthentication> void complete(
            RedisURI uri, C configuration, LettuceClientConfiguration client) {
        secure(uri, client);
        client.getClientName().ifPresent(uri::setClientName);
        uri.setCredentialsProvider(client.getRedisCredentialsProviderFactory()
                .map(made -> made.createCredentialsProvider(configuration))
                .orElseGet(() -> credentials(
                        configuration.getUsername(),
                        configuration.getPassword().toOptional().orElse(null))));
    }

    private static void secure(RedisURI uri, LettuceClientConfiguration client) {
        uri.setSsl(client.isUseSsl());
        uri.setStartTls(client.isStartTls());
        uri.setVerifyPeer(client.getVerifyMode());
    }

    /** @param isSecured whether a URL says so, which the details do not tell */
    static RedisAddress of(DataRedisConnectionDetails details, boolean isSecured) {
        SslBundle bundle = details.getSslBundle();
        boolean tls = isSecured || bundle != null;
        RedisCredentialsProvider credentials = credentials(details.getUsername(), chars(details.getPassword()));
        DataRedisConnectionDetails.Sentinel sentinel = details.getSentinel();
        DataRedisConnectionDetails.Standalone server = details.getStandalone();
        Kind kind = Kind.SERVER;
        List<RedisURI> uris;
        if (details.getCluster() != null) {
            kind = Kind.CLUSTER;
            uris = uris(details.getCluster().getNodes());
        } else if (details.getMasterReplica() != null) {
            kind = Kind.PRIMARY;
            uris = uris(details.getMasterReplica().getNodes());
        } else if (sentinel != null) {
            RedisURI uri = new RedisURI();
            uri.setSentinelMasterId(sentinel.getMaster());
            uri.setDatabase(sentinel.getDatabase());
            uris(sentinel.getNodes()).forEach(node -> {
                node.setCredentialsProvider(credentials(sentinel.getUsername(), chars(sentinel.getPassword())));
                node.setSsl(tls);
                uri.getSentinels().add(node);
            });
            uris = List.of(uri);
        } else if (server != null) {
            RedisURI uri = uri(server.getHost(), server.getPort());
            uri.setDatabase(server.getDatabase());
            uris = List.of(uri);
        } else {
            throw new LockConfigurationException(
                    "the connection details of Redis name no server", "Set reactive-lock.url.");
        }
        for (RedisURI uri : uris) {
            uri.setCredentialsProvider(credentials);
            uri.setSsl(tls);
        }
        return new RedisAddress(kind, uris, options(bundle), null, null);
    }

    private static ClientOptions options(@Nullable SslBundle bundle) {
        return bundle == null
                ? ClientOptions.create()
                : ClientOptions.builder().sslOptions(tls(bundle)).build();
    }

    /** Static replicas, whose factory shows how it connects to them, and not where they are. */
    static RedisAddress of(RedisStaticMasterReplicaConfiguration replicas, LettuceClientConfiguration client) {
        List<RedisURI> uris = replicas.getNodes().stream()
                .map(node -> uri(node.getHostName(), node.getPort()))
                .toList();
        for (RedisURI uri : uris) {
            complete(uri, replicas, client);
            uri.setDatabase(replicas.getDatabase());
        }
        return new RedisAddress(Kind.PRIMARY, uris, client, null);
    }

    private static SslOptions tls(SslBundle bundle) {
        SslOptions.Builder tls = SslOptions.builder()
                .keyManager(bundle.getManagers().getKeyManagerFactory())
                .trustManager(bundle.getManagers().getTrustManagerFactory());
        String[] ciphers = bundle.getOptions().getCiphers();
        String[] protocols = bundle.getOptions().getEnabledProtocols();
        if (ciphers != null) {
            tls.cipherSuites(ciphers);
        }
        if (protocols != null) {
            tls.protocols(protocols);
        }
        return tls.build();
    }

    private static List<RedisURI> uris(List<Node> nodes) {
        return nodes.stream().map(node -> uri(node.host(), node.port())).toList();
    }

    private static RedisURI uri(String host, int port) {
        return RedisURI.Builder.redis(host, port).build();
    }

    /** At hand, so that Lettuce need not ask for them on a thread of the common pool. */
    private static RedisCredentialsProvider credentials(@Nullable String user, char @Nullable [] password) {
        return new StaticCredentialsProvider(user, password);
    }

    private static char @Nullable [] chars(@Nullable String password) {
        return password == null ? null : password.toCharArray();
    }

    /** Made as the application makes its connections, where it makes any with Lettuce. */
    LettuceLockBackend own(RedisBackendOptions options) {
        return switch (kind) {
            case SERVER -> LettuceLockBackend.connect(uris.get(0), like, resources, options);
            case PRIMARY -> LettuceLockBackend.connectPrimary(uris, like, resources, options);
            case CLUSTER -> LettuceLockBackend.connectCluster(uris, like, resources, options);
        };
    }

    LettuceLockBackend shared(RedisBackendOptions options) {
        AbstractRedisClient client = factory == null ? null : factory.getRequiredNativeClient();
        if (client instanceof RedisClusterClient cluster) {
            return LettuceLockBackend.using(cluster, options);
        }
        if (client instanceof RedisClient one) {
            return LettuceLockBackend.using(one, uris.get(0), options);
        }
        throw new LockConfigurationException(
                "reactive-lock.client=shared needs a client of Lettuce that finds the primary by itself, and the application"
                        + " has Jedis, or replicas without sentinels",
                "Remove reactive-lock.client, so that the locks have connections of their own.");
    }

    /** Without credentials, which the addresses have. */
    @Override
    public String toString() {
        return "RedisAddress[" + kind + ", " + uris.size() + "]";
    }
}
