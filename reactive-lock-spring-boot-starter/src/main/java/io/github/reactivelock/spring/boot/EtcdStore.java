package io.github.reactivelock.spring.boot;

import io.etcd.jetcd.Client;
import io.github.reactivelock.etcd.EtcdBackendOptions;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;

/** The etcd store, over the application's client: that of jetcd does not show what it was made of. */
final class EtcdStore implements StoreSource {

    private final Beans<Client> clients;

    EtcdStore(ListableBeanFactory beans) {
        this.clients = new Beans<>(beans, Client.class);
    }

    @Override
    public Store store() {
        return Store.ETCD;
    }

    @Override
    public @Nullable String found() {
        return clients.exist() ? clients.toString() : null;
    }

    @Override
    public LockBackend ofApplication(ReactiveLockProperties properties) {
        if (properties.client() == Sharing.OWN) {
            throw StoreChoice.cannotBeCopied("jetcd");
        }
        return EtcdLockBackend.using(clients.only(), options(properties));
    }

    @Override
    public LockBackend ofUrl(String url, ReactiveLockProperties properties) {
        // One scheme for all, as the command line has it, or one for each.
        String scheme = url.startsWith("https:") ? "https://" : "http://";
        List<String> members = Stream.of(url.replaceFirst("^etcd:", "http:").split(",", -1))
                .map(member -> member.contains("://") ? member : scheme + member)
                .toList();
        return EtcdLockBackend.connect(members, options(properties));
    }

    private static EtcdBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(EtcdBackendOptions.defaults(), EtcdBackendOptions::withPrefix);
    }
}
