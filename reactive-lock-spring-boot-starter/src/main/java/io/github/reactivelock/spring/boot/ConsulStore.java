package io.github.reactivelock.spring.boot;

import io.github.reactivelock.consul.ConsulBackendOptions;
import io.github.reactivelock.consul.ConsulLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.StoreUrl;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Consul, by its URL: what applications have of it is no client that could be asked without blocking. */
final class ConsulStore implements StoreSource {

    @Override
    public Store store() {
        return Store.CONSUL;
    }

    @Override
    public @Nullable String found() {
        return null;
    }

    @Override
    public LockBackend ofApplication(ReactiveLockProperties properties) {
        throw new IllegalStateException("an application has no connection to Consul");
    }

    @Override
    public LockBackend ofUrl(String url, ReactiveLockProperties properties) {
        StoreUrl parts = StoreUrl.parse(url.contains("://") ? url : "consul://" + url);
        String scheme = parts.name().matches("consuls|https") ? "https://" : "http://";
        String agents = parts.eachHost().stream().map(host -> scheme + host).collect(Collectors.joining(","))
                + parts.behindHosts();
        ConsulBackendOptions options =
                properties.prefixed(ConsulBackendOptions.defaults(), ConsulBackendOptions::withPrefix);
        if (parts.user() != null && !parts.user().isEmpty()) {
            throw new IllegalArgumentException(
                    "Consul knows no users: the token stands alone behind a colon, as in consul://:token@host:8500");
        }
        String token = parts.password();
        return ConsulLockBackend.connect(agents, token == null ? options : options.withToken(token));
    }
}
