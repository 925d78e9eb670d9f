package io.github.reactivelock.benchmarks.server;

/** A kind of server. */
public enum Store {
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

    public boolean isSql() {
        return this == MYSQL || name().startsWith("POSTGRESQL") || name().startsWith("MARIADB");
    }

    public Server start() {
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
