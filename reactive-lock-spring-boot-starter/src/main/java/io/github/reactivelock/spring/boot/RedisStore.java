package io.github.reactivelock.spring.boot;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import org.jspecify.annotations.Nullable;

/** Redis, at the address that the application connects to. */
final class RedisStore implements StoreSource {

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

    @Override
    public LockBackend ofUrl(String url, ReactiveLockProperties properties) {
        return LettuceLockBackend.connect(url, options(properties));
    }

    private static RedisBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(RedisBackendOptions.defaults(), RedisBackendOptions::withPrefix);
    }
}
