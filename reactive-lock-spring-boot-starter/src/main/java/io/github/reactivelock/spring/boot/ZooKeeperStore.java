package io.github.reactivelock.spring.boot;

import io.github.reactivelock.spi.LockBackend;
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
        ConfiguredUrl parts = ConfiguredUrl.of(url).orElseGet(() -> new ConfiguredUrl("zookeeper", null, url, ""));
        String path = parts.rest().equals("/") ? "" : parts.rest();
        ZooKeeperBackendOptions options = options(properties);
        return ZooKeeperLockBackend.connect(
                parts.hosts() + path,
                parts.login() == null
                        ? options
                        : options.withDigest(parts.login().user(), parts.login().password()));
    }

    private static ZooKeeperBackendOptions options(ReactiveLockProperties properties) {
        return properties.prefixed(ZooKeeperBackendOptions.defaults(), ZooKeeperBackendOptions::withPrefix);
    }
}
