package io.github.reactivelock.cli;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.ClientBuilder;
import io.github.reactivelock.consul.ConsulBackendOptions;
import io.github.reactivelock.consul.ConsulLockBackend;
import io.github.reactivelock.etcd.EtcdBackendOptions;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.support.StoreUrl;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryOptions;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import org.jspecify.annotations.Nullable;

/**
 * Makes backends of URLs. Nothing is connected here; what cannot be right is refused with an
 * {@link IllegalArgumentException}.
 *
 * @param keyPrefix what names at the store begin with; the default of the library if null
 * @param tablePrefix what names of SQL tables begin with; the default of the library if null
 * @param patience how long a command may take
 */
record Stores(@Nullable String keyPrefix, @Nullable String tablePrefix, Duration patience) {

    private static final int CONNECTIONS = 2;
    private static final String ETCD_PORT = ":2379";

    LockBackend backend(List<StoreUrl> urls) {
        StoreUrl url = urls.get(0);
        if (urls.size() > 1) {
            return quorum(urls);
        }
        boolean isSql = Scheme.of(url) == Scheme.SQL;
        if (isSql ? keyPrefix != null : tablePrefix != null) {
            throw new IllegalArgumentException(
                    isSql
                            ? "--key-prefix is not for SQL, where --table-prefix names the tables"
                            : "--table-prefix is for SQL only; here --key-prefix says what names begin with");
        }
        if (!isSql && url.hosts().isBlank()) {
            throw new IllegalArgumentException(
                    "the store's URL names no host; one looks like " + Scheme.of(url).example);
        }
        requirePassword(url);
        return switch (Scheme.of(url)) {
            case REDIS -> redis(url);
            case SENTINEL -> sentinel(url);
            case PRIMARY -> LettuceLockBackend.connectPrimary(eachServer(url), redisOptions());
            case CLUSTER -> LettuceLockBackend.connectCluster(eachServer(url), redisOptions());
            case ETCD -> etcd(url);
            case ZOOKEEPER -> zooKeeper(url);
            case CONSUL -> consul(url);
            case SQL -> sql(url);
        };
    }

    private LockBackend quorum(List<StoreUrl> urls) {
        if (tablePrefix != null || urls.stream().anyMatch(url -> Scheme.of(url) != Scheme.REDIS)) {
            throw new IllegalArgumentException(
                    "several stores are a quorum, whose members are all redis:// or rediss://; the other schemes name"
                            + " several hosts in one URL, with commas between them");
        }
        urls.forEach(Stores::requirePassword);
        return QuorumLockBackend.of(urls.stream().map(this::redis).toArray(QuorumNode[]::new));
    }

    /** What stands alone before the at sign is a user here, and a password for other programs. */
    private static void requirePassword(StoreUrl url) {
        String user = url.user();
        if (Scheme.of(url) != Scheme.SQL && user != null && !user.isEmpty() && url.password() == null) {
            throw new IllegalArgumentException("there is a user and no password: give it in " + Environment.PASSWORD
                    + " or with --ask-password. A password alone stands behind a colon, as in redis://:password@host");
        }
    }

    private LettuceLockBackend redis(StoreUrl url) {
        return LettuceLockBackend.connect(redisUri(url, url.name(), url.hosts()), redisOptions());
    }

    private LettuceLockBackend sentinel(StoreUrl url) {
        if (url.fragment().isEmpty() && !url.query().contains("sentinelMasterId=")) {
            throw new IllegalArgumentException(
                    "the URL of sentinels ends with the primary's name, as in " + Scheme.SENTINEL.example);
        }
        return redis(url);
    }

    private List<String> eachServer(StoreUrl url) {
        String name = url.name().startsWith("rediss") ? "rediss" : "redis";
        return url.eachHost().stream().map(host -> redisUri(url, name, host)).toList();
    }

    /** As Lettuce reads it. */
    private String redisUri(StoreUrl url, String name, String hosts) {
        boolean hasTimeout = Stream.of(url.query().split("&")).anyMatch(option -> option.startsWith("timeout="));
        String timeout = "timeout=" + patience.toMillis() + "ms";
        String query = hasTimeout ? url.query() : url.query().isEmpty() ? timeout : url.query() + "&" + timeout;
        return new StoreUrl(url.name(), url.user(), url.password(), url.hosts(), url.path(), query, url.fragment())
                .text(name, hosts);
    }

    private RedisBackendOptions redisOptions() {
        return prefixed(RedisBackendOptions.defaults(), options -> options::withPrefix, keyPrefix);
    }

    private EtcdLockBackend etcd(StoreUrl url) {
        if (url.path().length() > 1 || !url.query().isEmpty() || !url.fragment().isEmpty()) {
            throw new IllegalArgumentException(
                    "the URL of etcd has nothing behind the hosts, as in " + Scheme.ETCD.example);
        }
        String scheme = url.name().equals("etcd") ? "http" : url.name();
        String[] endpoints = url.eachHost().stream()
                .map(host -> scheme + "://" + host + (host.matches(".*:[0-9]+") ? "" : ETCD_PORT))
                .toArray(String[]::new);
        ClientBuilder builder = Client.builder().endpoints(endpoints);
        String user = url.user();
        String password = url.password();
        if (user != null && password != null) {
            builder.user(bytes(user)).password(bytes(password));
        }
        if (scheme.equals("https")) {
            try {
                builder.sslContext(trusting -> {});
            } catch (SSLException e) {
                throw new IllegalStateException("this JVM cannot do TLS: " + e.getMessage(), e);
            }
        }
        EtcdBackendOptions options = prefixed(EtcdBackendOptions.defaults(), known -> known::withPrefix, keyPrefix);
        return EtcdLockBackend.connect(builder, options.withCommandTimeout(patience));
    }

    private ZooKeeperLockBackend zooKeeper(StoreUrl url) {
        ZooKeeperBackendOptions options =
                prefixed(ZooKeeperBackendOptions.defaults(), known -> known::withPrefix, keyPrefix);
        String user = url.user();
        String password = url.password();
        if (user != null && password != null) {
            options = options.withDigest(user, password);
        }
        String path = url.path().equals("/") ? "" : url.path();
        return ZooKeeperLockBackend.connect(url.hosts() + path, options.withCommandTimeout(patience));
    }

    private ConsulLockBackend consul(StoreUrl url) {
        if (url.path().length() > 1 || !url.query().isEmpty() || !url.fragment().isEmpty()) {
            throw new IllegalArgumentException(
                    "the URL of Consul has nothing behind the hosts, as in " + Scheme.CONSUL.example);
        }
        String user = url.user();
        String token = url.password();
        if (user != null && !user.isEmpty()) {
            throw new IllegalArgumentException("Consul knows no users: give the token alone, in " + Environment.PASSWORD
                    + " or with --ask-password");
        }
        String scheme = url.name().equals("consuls") ? "https" : "http";
        String agents =
                url.eachHost().stream().map(host -> scheme + "://" + host).collect(Collectors.joining(","));
        ConsulBackendOptions options = prefixed(ConsulBackendOptions.defaults(), known -> known::withPrefix, keyPrefix)
                .withCommandTimeout(patience);
        return ConsulLockBackend.connect(agents, token == null ? options : options.withToken(token));
    }

    private R2dbcLockBackend sql(StoreUrl url) {
        ConnectionFactoryOptions.Builder address = ConnectionFactoryOptions.builder();
        try {
            address.from(ConnectionFactoryOptions.parse(driver(url) + "://" + url.hosts() + url.path()
                    + (url.query().isEmpty() ? "" : "?" + url.query())));
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("this is no URL of a database; one looks like " + Scheme.SQL.example, e);
        }
        if (url.user() != null) {
            address.option(ConnectionFactoryOptions.USER, url.user());
        }
        if (url.password() != null) {
            address.option(ConnectionFactoryOptions.PASSWORD, url.password());
        }
        R2dbcBackendOptions options = prefixed(R2dbcBackendOptions.defaults(), known -> known::withPrefix, tablePrefix);
        if (!ConnectionFactories.supports(address.build())) {
            throw new IllegalArgumentException("there is no driver for " + url.name()
                    + " here; there are postgresql, mariadb, mysql and r2dbc:h2");
        }
        return R2dbcLockBackend.connect(
                factory(address.build()), options.withConnections(CONNECTIONS).withCommandTimeout(patience));
    }

    /** As R2DBC names it. */
    private static String driver(StoreUrl url) {
        return url.name().startsWith("r2dbc")
                ? url.name()
                : "r2dbc:" + url.name().replaceFirst("^postgres$", "postgresql");
    }

    private static ConnectionFactory factory(ConnectionFactoryOptions address) {
        try {
            return ConnectionFactories.get(address);
        } catch (RuntimeException e) {
            throw new IllegalArgumentException("the driver refuses the URL: " + e.getMessage(), e);
        }
    }

    private static <T> T prefixed(T options, Function<T, Function<String, T>> with, @Nullable String prefix) {
        return prefix == null ? options : with.apply(options).apply(prefix);
    }

    private static ByteSequence bytes(String text) {
        return ByteSequence.from(text, StandardCharsets.UTF_8);
    }
}
