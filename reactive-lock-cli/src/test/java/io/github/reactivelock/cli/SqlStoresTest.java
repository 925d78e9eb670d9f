package io.github.reactivelock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.r2dbc.R2dbcBackendOptions;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.spi.ConnectionFactories;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

/** Every command on each database. */
class SqlStoresTest {

    private static R2dbcLockBackend backend(String url) {
        return R2dbcLockBackend.connect(
                ConnectionFactories.get(url),
                R2dbcBackendOptions.defaults().withConnections(4).withCommandTimeout(Duration.ofSeconds(40)));
    }

    private static void createTables(String url) {
        R2dbcLockBackend backend = backend(url);
        backend.createTables().block(StoreCases.LIMIT);
        backend.close().block(StoreCases.LIMIT);
    }

    @Nested
    class Postgres extends StoreCases {
        private PostgresServer server;

        @Override
        void open() {
            server = PostgresServer.start();
            createTables(server.url());
        }

        @Override
        void close() {
            server.close();
        }

        @Override
        List<String> urls() {
            return List.of(server.url().replaceFirst("^r2dbc:", ""));
        }

        @Override
        LockBackend backend() {
            return SqlStoresTest.backend(server.url());
        }

        @Override
        boolean knowsAges() {
            return true;
        }

        @Test
        void missingTablesAreNamed() {
            Program.Ended ended = Program.run(with(urls(), "ls", "--table-prefix", "other"));

            assertThat(ended.code()).isEqualTo(3);
            assertThat(ended.err()).contains("has no tables for locks", "prefix other");
        }
    }

    @Nested
    class MariaDb extends StoreCases {
        private MariaDbServer server;

        @Override
        void open() {
            server = MariaDbServer.start();
            createTables(server.url("mariadb"));
        }

        @Override
        void close() {
            server.close();
        }

        @Override
        List<String> urls() {
            return List.of(server.url("mariadb"));
        }

        @Override
        LockBackend backend() {
            return SqlStoresTest.backend(server.url("mariadb"));
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }

    /** The same server, asked through the driver of MySQL. */
    @Nested
    class MySqlDriver extends StoreCases {
        private MariaDbServer server;

        @Override
        void open() {
            server = MariaDbServer.start();
            createTables(server.url("mysql"));
        }

        @Override
        void close() {
            server.close();
        }

        @Override
        List<String> urls() {
            return List.of(server.url("mysql"));
        }

        @Override
        LockBackend backend() {
            return SqlStoresTest.backend(server.url("mariadb"));
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }

    /** In the memory of this JVM, where the program runs too. */
    @Nested
    class H2 extends StoreCases {
        private static final String URL = "r2dbc:h2:mem:///reactive-lock-cli?options=DB_CLOSE_DELAY=-1";

        @Override
        void open() {
            createTables(URL);
        }

        @Override
        void close() {}

        @Override
        List<String> urls() {
            return List.of(URL);
        }

        @Override
        LockBackend backend() {
            return SqlStoresTest.backend(URL);
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }
}
