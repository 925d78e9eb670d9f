package io.github.reactivelock.spring.boot;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.StoreUrl;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import org.apache.curator.framework.CuratorFramework;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;

/** ZooKeeper, over the application's client: that of Curator does not show who it logs in as. */
final class ZooKeeperStore implements StoreSource {

    private final Beans<CuratorFramework> clients;

    ZooKeeperStore(ListableBeanFactory beans) {
        this.clients = new Beans<>(beans, CuratorFramework.class);
    }

    @Override
    public Store store() {
        return Store.ZOOKEEPER;
    }

    @Override
    public @Nullable String found() {
        return clients.exist() ? clients.toString() : null;
    }

    @Override
    public LockBackend ofApplication(ReactiveLockProperties properties) {
        if (properties.client() == Sharing.OWN) {
            throw StoreChoice.cannotBeCopied("Curator");
        }
        return ZooKeeperLockBackend.using(clients.only(), options(properties));
    }

    @Override
    public LockBackend ofUrl(String url, ReactiveLockProperties properties) {
        StoreUrl parts = StoreUrl.parse(url.contains("://") ? url : "zookeeper://" + url);
        String path = parts.behindHosts().equals("/") ? "" : parts.behindHosts();
        String user = parts.user();
        String password = parts.password() == null ? "" : parts.password();
        ZooKeeperBackendOptions options = options(properties);
        return ZooKeeperLockBackend.connect(
                parts.hosts() + path, user == null ? options : options.withDigest(user, password));
    }

    private static ZooKeeperBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(ZooKeeperBackendOptions.defaults(), ZooKeeperBackendOptions::withPrefix);
    }
}
