package io.github.reactivelock.examples;

import io.etcd.jetcd.Client;
import io.github.reactivelock.etcd.EtcdBackendOptions;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.EtcdServer;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import io.r2dbc.spi.ConnectionFactories;
import java.time.Duration;
import java.util.Locale;
import java.util.function.Function;
import java.util.logging.Level;
import java.util.logging.Logger;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/**
 * A lock store that an example starts for itself, from Docker or from the system's packages. ZooKeeper and H2 are Java
 * and run inside the example. All listen on a port, so that several processes can share them.
 */
public enum Store {
    /** One Redis. */
    REDIS,
    /** One etcd. */
    ETCD,
    /** One ZooKeeper, the test server of Curator. */
    ZOOKEEPER,
    /** PostgreSQL, over R2DBC. */
    POSTGRESQL,
    /** MariaDB, over R2DBC. */
    MARIADB,
    /** An H2 in memory, over R2DBC. */
    H2;

    /** A busy machine may be late; what an example shows must not depend on that. */
    private static final Duration PATIENCE = Duration.ofSeconds(15);

    /**
     * Logs at each start that there is no native code, which is not needed. Kept in a field, or the JDK would forget
     * its level.
     */
    private static final Logger GRPC = Logger.getLogger("io.grpc.netty");

    private record Server(String address, AutoCloseable end) {}

    /**
     * Runs a program against a server that is started for it and stopped afterwards.
     *
     * @param program makes the program, given the server's address
     * @param <T> the program's result
     * @return cold; the program's outcome, or {@link IllegalStateException} with a remedy if no server starts
     */
    public <T> Mono<T> use(Function<String, Mono<T>> program) {
        return Mono.usingWhen(
                Mono.fromCallable(this::started).subscribeOn(Schedulers.boundedElastic()),
                server -> prepared(server.address()).then(Mono.defer(() -> program.apply(server.address()))),
                server -> Mono.fromCallable(() -> {
                            server.end().close();
                            return server;
                        })
                        .subscribeOn(Schedulers.boundedElastic()));
    }

    /**
     * Whether it is an SQL database.
     *
     * @return true if its address is one for R2DBC
     */
    public boolean isSql() {
        return this == POSTGRESQL || this == MARIADB || this == H2;
    }

    /**
     * Connects a lock client.
     *
     * @param address the server's address, as {@link #use} gives it
     * @return a backend that has not connected yet
     */
    public LockBackend backend(String address) {
        return switch (this) {
            case REDIS -> LettuceLockBackend.connect(address);
            case ETCD -> {
                GRPC.setLevel(Level.WARNING);
                yield EtcdLockBackend.connect(
                        Client.builder().endpoints(address),
                        EtcdBackendOptions.defaults().withCommandTimeout(PATIENCE));
            }
            case ZOOKEEPER ->
                ZooKeeperLockBackend.connect(
                        address, ZooKeeperBackendOptions.defaults().withCommandTimeout(PATIENCE));
            case POSTGRESQL, MARIADB, H2 -> database(address);
        };
    }

    private static R2dbcLockBackend database(String address) {
        return R2dbcLockBackend.connect(
                ConnectionFactories.get(address), R2dbcBackendOptions.defaults().withCommandTimeout(PATIENCE));
    }

    /** In lower case. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    private Server started() throws Exception {
        return switch (this) {
            case REDIS -> {
                RedisServer server = RedisServer.start();
                yield new Server(server.uri(), server);
            }
            case ETCD -> {
                EtcdServer server = EtcdServer.start();
                yield new Server(server.uri(), server);
            }
            case ZOOKEEPER -> {
                ZooKeeperServer server = ZooKeeperServer.start();
                yield new Server(server.address(), server);
            }
            case POSTGRESQL -> {
                PostgresServer server = PostgresServer.start();
                yield new Server(server.url(), server);
            }
            case MARIADB -> {
                MariaDbServer server = MariaDbServer.start();
                yield new Server(server.url("mariadb"), server);
            }
            case H2 -> {
                H2Server server = H2Server.start();
                yield new Server(server.url(), server);
            }
        };
    }

    private Mono<Void> prepared(String address) {
        return isSql()
                ? Mono.usingWhen(
                        Mono.fromSupplier(() -> database(address)),
                        R2dbcLockBackend::createTables,
                        R2dbcLockBackend::close)
                : Mono.empty();
    }
}
