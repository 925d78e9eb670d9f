package io.github.reactivelock.cli;

import io.github.reactivelock.spi.support.StoreUrl;
import java.util.List;

/** What a store's URL begins with, and which store that is. */
enum Scheme {
    REDIS("redis://host:6379/0", "one Redis; several are a quorum", "redis rediss"),
    SENTINEL(
            "redis-sentinel://host:26379,host:26379/0#name",
            "the primary that Redis Sentinel names",
            "redis-sentinel rediss-sentinel"),
    PRIMARY("redis-primary://host:6379,host:6379/0", "the primary among these Redis", "redis-primary rediss-primary"),
    CLUSTER(
            "redis-cluster://host:7000,host:7001",
            "a Redis Cluster, by some of its nodes",
            "redis-cluster rediss-cluster"),
    ETCD("http://host:2379,host:2379", "etcd; etcd:// is the same", "http https etcd"),
    ZOOKEEPER("zookeeper://host:2181,host:2181/path", "ZooKeeper; the path is a node that exists", "zookeeper"),
    CONSUL("consul://host:8500,host:8500", "Consul; a token stands as the password", "consul consuls"),
    SQL(
            "postgresql://host:5432/database",
            "an SQL database; also mariadb, mysql, r2dbc:h2",
            "r2dbc r2dbcs postgresql postgres mariadb mysql");

    final String example;
    final String store;
    /** With spaces between them. */
    private final String names;

    Scheme(String example, String store, String names) {
        this.example = example;
        this.store = store;
        this.names = names;
    }

    /** That of a URL's beginning, up to the first colon. */
    static Scheme of(StoreUrl url) {
        String name = url.name().replaceFirst(":.*", "");
        for (Scheme scheme : values()) {
            if (List.of(scheme.names.split(" ")).contains(name)) {
                return scheme;
            }
        }
        throw new IllegalArgumentException(
                "a store's URL cannot begin with '" + name + ":'; reactive-lock --help shows those there are");
    }
}
