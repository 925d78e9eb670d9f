package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.StaleTokenException;
import io.github.reactivelock.testkit.GuardContract;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class FencingGuardTest {

    private List<Databases> databases;

    @BeforeAll
    void start() {
        databases = List.of(Databases.postgres(), Databases.mariaDb("mariadb"), Databases.h2());
        databases.forEach(database -> {
            database.createTables();
            database.execute("CREATE TABLE account (id BIGINT PRIMARY KEY, balance BIGINT NOT NULL, fence BIGINT)");
            database.execute("INSERT INTO account (id, balance) VALUES (7, 0), (8, 0)");
        });
    }

    @AfterAll
    void stop() {
        databases.forEach(Databases::close);
    }

    List<Databases> databases() {
        return databases;
    }

    private static Mono<Void> inTransaction(Databases database, Function<Connection, Mono<?>> work) {
        return Mono.usingWhen(
                        database.factory().create(),
                        connection -> Mono.from(connection.beginTransaction())
                                .then(Mono.defer(() -> work.apply(connection)))
                                .then(Mono.from(connection.commitTransaction())),
                        Connection::close)
                .subscribeOn(Schedulers.boundedElastic());
    }

    private static Mono<Void> write(Databases database, FencingGuard guard, Object resource, long token, long balance) {
        return inTransaction(
                database,
                connection -> guard.check(connection, resource, token)
                        .then(Databases.number(
                                connection, "UPDATE account SET balance = " + balance + " WHERE id = 7")));
    }

    /** The cases of every guard, on one of the databases. */
    abstract class Cases extends GuardContract {

        private final int database;

        Cases(int database) {
            this.database = database;
        }

        @Override
        protected Mono<Void> write(String key, long fencingToken) {
            FencingGuard guard = FencingGuard.inOwnTable();
            return inTransaction(databases.get(database), connection -> guard.check(connection, key, fencingToken));
        }
    }

    @Nested
    class OnPostgres extends Cases {
        OnPostgres() {
            super(0);
        }
    }

    @Nested
    class OnMariaDb extends Cases {
        OnMariaDb() {
            super(1);
        }
    }

    @Nested
    class OnH2 extends Cases {
        OnH2() {
            super(2);
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aHolderWhoseLeaseEndedIsRefused(Databases database) {
        FencingGuard guard = FencingGuard.inOwnTable();
        LockClient lock = LockClient.create(database.backend());
        LockOptions brief =
                LockOptions.defaults().withLease(Duration.ofMillis(300)).withoutRenewal();
        LockHandle stale = lock.with(brief).acquire("account:7").block(Databases.LIMIT);
        LockHandle next = lock.acquire("account:7").block(Databases.LIMIT);
        write(database, guard, "account:7", next.fencingToken(), 100).block(Databases.LIMIT);

        assertThatThrownBy(() -> write(database, guard, "account:7", stale.fencingToken(), 5)
                        .block(Databases.LIMIT))
                .isInstanceOfSatisfying(
                        StaleTokenException.class,
                        refused -> assertThat(refused.newestSeen()).isEqualTo(next.fencingToken()));

        assertThat(database.select("SELECT balance FROM account WHERE id = 7")).isEqualTo(100);
        lock.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aColumnOfTheUsersTableRemembersTheToken(Databases database) {
        FencingGuard guard = FencingGuard.inColumn("account", "id", "fence");
        write(database, guard, 7L, 20, 20).block(Databases.LIMIT);
        write(database, guard, 7L, 20, 21).block(Databases.LIMIT);

        assertThatThrownBy(() -> write(database, guard, 7L, 19, 19).block(Databases.LIMIT))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("20");

        assertThat(database.select("SELECT balance FROM account WHERE id = 7")).isEqualTo(21);
        assertThatThrownBy(() -> write(database, guard, 99L, 19, 19).block(Databases.LIMIT))
                .hasMessageContaining("no row");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aTokenThatWasRolledBackIsForgotten(Databases database) {
        FencingGuard guard = FencingGuard.inOwnTable();
        Mono<Void> failing = inTransaction(
                database,
                connection -> guard.check(connection, "rolled back", 50).then(Mono.error(new ArithmeticException())));
        assertThatThrownBy(() -> failing.block(Databases.LIMIT)).isInstanceOf(ArithmeticException.class);

        write(database, guard, "rolled back", 40, 1).block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void withoutATransactionItRefusesToCheck(Databases database) {
        FencingGuard guard = FencingGuard.inOwnTable();
        Mono<Void> unprotected = Mono.usingWhen(
                        database.factory().create(), connection -> guard.check(connection, "x", 1), Connection::close)
                .subscribeOn(Schedulers.boundedElastic());

        assertThatThrownBy(() -> unprotected.block(Databases.LIMIT)).hasMessageContaining("begin a transaction");
    }
}
