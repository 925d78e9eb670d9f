package io.github.reactivelock.spring.boot;

import java.util.Arrays;
import java.util.Locale;
import java.util.Optional;

/** The stores that the starter knows, as {@code reactive-lock.store} names them. */
enum Store {
    /** Redis, through Lettuce. */
    REDIS("io.lettuce:lettuce-core, which spring-boot-starter-data-redis-reactive brings", "rediss?"),
    /** PostgreSQL, MariaDB, MySQL or H2, through R2DBC. */
    R2DBC("spring-boot-starter-r2dbc and the R2DBC driver of your database", "r2dbcs?|postgres(ql)?|mariadb|mysql"),
    /** The etcd store, through jetcd. */
    ETCD("io.github.reactivelock:reactive-lock-etcd, which brings jetcd", "https?|etcd"),
    /** ZooKeeper, through Curator. */
    ZOOKEEPER("io.github.reactivelock:reactive-lock-zookeeper, which brings Curator", "zookeeper"),
    /** Consul, over HTTP. */
    CONSUL("io.github.reactivelock:reactive-lock-consul, which brings Reactor Netty", "consuls?"),
    /** The memory of this process, for tests. */
    MEMORY("nothing", "(?!)");

    /** What an application without it adds. */
    final String needs;

    /** What its URLs begin with, up to the first punctuation. */
    private final String scheme;

    Store(String needs, String scheme) {
        this.needs = needs;
        this.scheme = scheme;
    }

    /** As properties and people write it. */
    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** The property that chooses it. */
    String property() {
        return "reactive-lock.store=" + word();
    }

    /** Which store a URL belongs to; empty if its scheme says nothing. */
    static Optional<Store> of(String url) {
        String beginning = url.split("[:+-]", 2)[0];
        return Arrays.stream(values())
                .filter(store -> beginning.matches(store.scheme))
                .findFirst();
    }
}
