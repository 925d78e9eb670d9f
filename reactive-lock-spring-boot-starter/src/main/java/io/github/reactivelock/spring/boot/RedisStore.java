package io.github.reactivelock.spring.boot;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.spi.support.StoreUrl;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Redis, at the address that the application connects to. */
final class RedisStore implements StoreSource {

    /** As the command line has them. */
    private static final Pattern SEVERAL = Pattern.compile("rediss?-(cluster|primary)");

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
        List<String> nodes = List.of(url.strip().split("[,\\s]+(?=rediss?://)", -1));
        if (nodes.size() > 1) {
            return QuorumLockBackend.of(nodes.stream()
                    .map(node -> LettuceLockBackend.connect(escaped(node), options))
                    .toArray(QuorumNode[]::new));
        }
        StoreUrl parts = StoreUrl.parse(nodes.get(0));
        if (!SEVERAL.matcher(parts.name()).matches()) {
            return LettuceLockBackend.connect(escaped(nodes.get(0)), options);
        }
        String[] schemeAndKind = parts.name().split("-", -1);
        List<String> servers = parts.eachHost().stream()
                .map(host -> parts.text(schemeAndKind[0], host))
                .toList();
        return schemeAndKind[1].equals("cluster")
                ? LettuceLockBackend.connectCluster(servers, options)
                : LettuceLockBackend.connectPrimary(servers, options);
    }

    private static String escaped(String url) {
        StoreUrl parts = StoreUrl.parse(url);
        return parts.text(parts.name(), parts.hosts());
    }

    private static RedisBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(RedisBackendOptions.defaults(), RedisBackendOptions::withPrefix);
    }
}
