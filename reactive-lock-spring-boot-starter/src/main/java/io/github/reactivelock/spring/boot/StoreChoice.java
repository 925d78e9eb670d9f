package io.github.reactivelock.spring.boot;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spring.boot.ReactiveLockProperties.Sharing;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Which store keeps the locks: the one that the properties name, or that of the URL, or the only one that the
 * application has.
 *
 * @param store the one
 * @param source how it is reached; null for the memory of this process
 */
record StoreChoice(Store store, @Nullable StoreSource source) {

    /** Refuses none, several, and one whose driver is not there. */
    static StoreChoice of(ReactiveLockProperties properties, List<StoreSource> sources) {
        if (properties.url() != null) {
            return ofUrl(properties.url(), properties, sources);
        }
        if (properties.store() != null) {
            StoreChoice named = of(properties.store(), sources);
            if (named.source != null && named.source.found() == null) {
                throw new LockConfigurationException(
                        properties.store().property() + " but the application has no connection to it",
                        "Add " + properties.store().needs + ", or set reactive-lock.url.");
            }
            return named;
        }
        List<StoreSource> found = sources.stream()
                .filter(source -> source.found() != null)
                .sorted(Comparator.comparing(StoreSource::store))
                .toList();
        if (found.size() == 1) {
            return new StoreChoice(found.get(0).store(), found.get(0));
        }
        throw found.isEmpty() ? none() : several(found);
    }

    private static StoreChoice ofUrl(String url, ReactiveLockProperties properties, List<StoreSource> sources) {
        if (properties.client() == Sharing.SHARED) {
            throw new LockConfigurationException(
                    "reactive-lock.url asks for connections of the locks' own, and reactive-lock.client=shared for those of"
                            + " the application",
                    "Remove one of the two.");
        }
        Store store = properties.store() != null
                ? properties.store()
                : Store.of(url)
                        .orElseThrow(() -> new LockConfigurationException(
                                "reactive-lock.url does not show which store it belongs to; it begins with none of"
                                        + " redis:, rediss:, redis-sentinel:, redis-cluster:, redis-primary:, r2dbc:,"
                                        + " postgresql:, mariadb:, mysql:, http:, https:, etcd:, zookeeper: and consul:",
                                "Set reactive-lock.store as well, or mend the URL."));
        if (store == Store.MEMORY) {
            throw new LockConfigurationException(
                    store.property() + " keeps locks in this process, and reactive-lock.url somewhere else",
                    "Remove one of the two.");
        }
        return of(store, sources);
    }

    private static StoreChoice of(Store store, List<StoreSource> sources) {
        if (store == Store.MEMORY) {
            return new StoreChoice(store, null);
        }
        return sources.stream()
                .filter(source -> source.store() == store)
                .findFirst()
                .map(source -> new StoreChoice(store, source))
                .orElseThrow(() -> new LockConfigurationException(
                        "locks in the store " + store.word() + " need its driver, which is not on the class path",
                        "Add " + store.needs + "."));
    }

    private static LockConfigurationException none() {
        return new LockConfigurationException(
                "no store for locks: the application has no connection to Redis, to a database over R2DBC, to etcd or to"
                        + " ZooKeeper",
                "Add " + Store.REDIS.needs + ", or " + Store.R2DBC.needs
                        + "; or set reactive-lock.url; or declare a bean of"
                        + " the type LockBackend. " + Store.MEMORY.property()
                        + " keeps locks in this process, for tests.");
    }

    private static LockConfigurationException several(List<StoreSource> found) {
        return new LockConfigurationException(
                "more than one store could keep the locks: "
                        + found.stream()
                                .map(source -> source.store().word() + " (" + source.found() + ")")
                                .collect(Collectors.joining(" and ")),
                "Set "
                        + found.stream()
                                .map(source -> source.store().property())
                                .collect(Collectors.joining(" or "))
                        + ".");
    }

    /** The error for clients whose settings cannot be read. */
    static LockConfigurationException cannotBeCopied(String driver) {
        return new LockConfigurationException(
                "reactive-lock.client=own, but a client of " + driver + " does not show all that it was made of",
                "Set reactive-lock.url to have connections of the locks' own, or remove reactive-lock.client.");
    }

    /** {@return a backend that has not connected yet} */
    LockBackend backend(ReactiveLockProperties properties) {
        if (source == null) {
            return InMemoryLockBackend.create();
        }
        String url = properties.url();
        return url == null
                ? source.ofApplication(properties)
                : ReactiveLockProperties.checked("url", () -> source.ofUrl(url, properties));
    }

    /** Where a backend made here keeps its locks, for people and without secrets. */
    String where(LockBackend backend, ReactiveLockProperties properties) {
        if (source == null) {
            return "the memory of this process";
        }
        String url = properties.url();
        return url == null ? source.where(backend) : StoreOfLocks.at(store.word(), StoreOfLocks.hosts(url));
    }
}
