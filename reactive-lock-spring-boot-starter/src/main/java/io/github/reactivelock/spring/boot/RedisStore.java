package io.github.reactivelock.spring.boot;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Redis, at the address that the application connects to. */
final class RedisStore implements StoreSource {

    /** As the command line has them. */
    private static final Pattern SEVERAL =
            Pattern.compile("(?<scheme>rediss?)-(?<kind>cluster|primary)://(?<login>.*@)?(?<hosts>[^/?#]*)(?<rest>.*)");

    private final @Nullable RedisAddresses application;

    /** Null without Spring Data Redis. */
    RedisStore(@Nullable RedisAddresses application) {
        this.application = application;
    }

    @Override
    public Store store() {
        return Store.REDIS;
    }

    @Override
    public @Nullable String found() {
        return application == null ? null : application.found();
    }

    @Override
    public LockBackend ofApplication(ReactiveLockProperties properties) {
        if (application == null) {
            throw new IllegalStateException("asked for what was not found");
        }
        RedisAddress address = application.address();
        RedisBackendOptions options = options(properties);
        return properties.client() == Sharing.SHARED ? address.shared(options) : address.own(options);
    }

    /** The backend knows it. */
    @Override
    public String where(LockBackend backend) {
        return backend.toString();
    }

    @Override
    public LockBackend ofUrl(String url, ReactiveLockProperties properties) {
        RedisBackendOptions options = options(properties);
        List<String> nodes = List.of(url.split(",(?=rediss?://)", -1));
        if (nodes.size() > 1) {
            return QuorumLockBackend.of(nodes.stream()
                    .map(node -> LettuceLockBackend.connect(node, options))
                    .toArray(QuorumNode[]::new));
        }
        Matcher several = SEVERAL.matcher(url);
        if (!several.matches()) {
            return LettuceLockBackend.connect(url, options);
        }
        String beginning =
                several.group("scheme") + "://" + (several.group("login") == null ? "" : several.group("login"));
        List<String> servers = Stream.of(several.group("hosts").split(",", -1))
                .map(host -> beginning + host + several.group("rest"))
                .toList();
        return several.group("kind").equals("cluster")
                ? LettuceLockBackend.connectCluster(servers, options)
                : LettuceLockBackend.connectPrimary(servers, options);
    }

    private static RedisBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(RedisBackendOptions.defaults(), RedisBackendOptions::withPrefix);
    }
}
