package io.github.reactivelock.benchmarks;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The surroundings of scenarios: servers, started at their first use, client processes, and the pace. */
final class Bench implements AutoCloseable {

    /** A kind of server. */
    enum Store {
        REDIS,
        ETCD,
        ZOOKEEPER,
        CONSUL,
        POSTGRESQL,
        MARIADB,
        /** That of the PATH, which {@code config/newest-servers mysql} unpacks. */
        MYSQL,
        /** These answer before a commit is on the disk, which shows what the processors have to do. */
        POSTGRESQL_UNFLUSHED,
        MARIADB_UNFLUSHED,
        /** Three Redis servers that know nothing of one another. */
        QUORUM_3,
        QUORUM_5;

        boolean isSql() {
            return this == MYSQL || name().startsWith("POSTGRESQL") || name().startsWith("MARIADB");
        }

        Server start() {
            return switch (this) {
                case REDIS -> new RedisServer();
                case ETCD -> new EtcdServer();
                case ZOOKEEPER -> new ZooKeeperServer();
                case CONSUL -> new ConsulOfTests();
                case POSTGRESQL -> SqlServer.postgres("fsync=on", "synchronous_commit=on", "full_page_writes=on");
                case POSTGRESQL_UNFLUSHED -> SqlServer.postgres("fsync=off", "synchronous_commit=off");
                case MARIADB -> SqlServer.mariaDb("--innodb-flush-log-at-trx-commit=1");
                case MYSQL -> SqlServer.mySql("--innodb-flush-log-at-trx-commit=1");
                case MARIADB_UNFLUSHED -> SqlServer.mariaDb("--innodb-flush-log-at-trx-commit=0");
                case QUORUM_3 -> new RedisServers(3);
                case QUORUM_5 -> new RedisServers(5);
            };
        }
    }

    private final Pace pace;
    private final Map<Store, Server> servers = new EnumMap<>(Store.class);
    private @Nullable Group group;

    Bench(Pace pace) {
        this.pace = pace;
    }

    Pace pace() {
        return pace;
    }

    Server server(Store store) {
        return servers.computeIfAbsent(store, Store::start);
    }

    RedisServer redis() {
        return (RedisServer) server(Store.REDIS);
    }

    List<String> versions() {
        return servers.values().stream().map(Server::version).toList();
    }

    /**
     * The given number of client processes. Reuses the last ones if their number is the same, with their connections
     * and compiled code.
     */
    Group group(int size) {
        Group current = group;
        if (current == null || current.size() != size) {
            disband();
            current = new Group(size);
            group = current;
        }
        return current;
    }

    /** Ends the client processes. */
    void disband() {
        if (group != null) {
            group.close();
            group = null;
        }
    }

    @Override
    public void close() {
        disband();
        servers.values().forEach(Server::close);
    }
}
