package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.testservers.MariaDbServer;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * MariaDB's driver where it prepares statements at the server, which an application may have told it: after one that
 * could not be prepared it carries out others than it is told (docs/design/r2dbc-mariadb.md).
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class PreparedTest {

    private static final String CANNOT_BE_PREPARED = "SELECT ? FROM not_there";
    private static final int ROUNDS = 5;

    private MariaDbServer server;
    private String url;

    @BeforeAll
    void start() {
        server = MariaDbServer.start();
        new Databases(server.url("mariadb"), () -> {}).createTables();
        url = server.url("mariadb") + "?useServerPrepStmts=true";
    }

    @AfterAll
    void stop() {
        server.close();
    }

    private static Mono<String> asked(Connection connection, String statement) {
        return Flux.from(connection.createStatement(statement).bind(0, "1").execute())
                .concatMap(result -> result.map((row, metadata) -> String.valueOf(row.get(0))))
                .next();
    }

    /** What is wrong in answers that should be B1, C1 and D1. */
    private static List<String> wrong(Connection connection) {
        List<String> wrong = new ArrayList<>();
        for (int round = 0; round < ROUNDS; round++) {
            for (String letter : List.of("B", "C", "D")) {
                String answer = asked(connection, "SELECT concat('" + letter + "', ?)")
                        .onErrorResume(R2dbcException.class, error -> Mono.just("an error"))
                        .block(Databases.LIMIT);
                if (!(letter + "1").equals(answer)) {
                    wrong.add(letter + ": " + answer);
                }
            }
        }
        return wrong;
    }

    /** If this is red the driver is mended, and what the pages say of it is to be looked at again. */
    @Test
    void theDriverAloneMixesUpStatementsAfterOneThatCannotBePrepared() {
        Connection connection = Mono.from(ConnectionFactories.get(url).create()).block(Databases.LIMIT);
        assertThat(asked(connection, "SELECT concat('A', ?)").block(Databases.LIMIT))
                .isEqualTo("A1");

        assertThatThrownBy(() -> asked(connection, CANNOT_BE_PREPARED).block(Databases.LIMIT))
                .isInstanceOf(R2dbcException.class);

        assertThat(wrong(connection)).contains("B: C1");
        Mono.from(connection.close()).block(Databases.LIMIT);
    }

    /** As one of metrics that does not say what it wraps. */
    private static ConnectionFactory hiding(ConnectionFactory real) {
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.from(real.create()).map(connection -> (Connection) Proxy.newProxyInstance(
                        Connection.class.getClassLoader(),
                        new Class<?>[] {Connection.class},
                        (proxy, method, arguments) -> method.invoke(connection, arguments)));
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return real.getMetadata();
            }
        };
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aConnectionIsClosedAfterSuchAStatementUnderARowLock(boolean isHidden) {
        ConnectionFactory driver = ConnectionFactories.get(url);
        ConnectionPool pool = Databases.pool(isHidden ? hiding(driver) : driver, 1);
        RowLocks locks = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);

        assertThatThrownBy(() -> locks.withRowLock("k", connection -> asked(connection, CANNOT_BE_PREPARED))
                        .block(Databases.LIMIT))
                .isInstanceOf(R2dbcException.class);

        Connection next = pool.create().block(Databases.LIMIT);
        assertThat(wrong(next)).isEmpty();
        Mono.from(next.close()).block(Databases.LIMIT);
        Databases.dispose(pool);
    }
}
