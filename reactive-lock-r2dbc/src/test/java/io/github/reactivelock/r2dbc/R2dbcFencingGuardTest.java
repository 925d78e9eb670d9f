package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.state.StaleTokenException;
import io.github.reactivelock.testkit.GuardContract;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionMetadata;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class R2dbcFencingGuardTest {

    private List<Databases> databases;

    @BeforeAll
    void start() {
        Databases mariaDb = Databases.mariaDb("mariadb");
        databases = List.of(Databases.postgres(), mariaDb, mariaDb.byMySqlDriver(), Databases.h2());
        databases.stream().filter(each -> !each.isMySqlDriver()).forEach(database -> {
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

    private static R2dbcFencingGuard guard(Databases database) {
        return R2dbcLockBackend.using(database.factory()).fencingGuard();
    }

    private static Mono<Void> write(R2dbcFencingGuard guard, Object resource, long token, long balance) {
        String change = "UPDATE account SET balance = " + balance + " WHERE id = 7";
        return guard.write(resource, token, connection -> Databases.number(connection, change))
                .then();
    }

    /** The cases of every guard, on one of the databases. */
    abstract class Cases extends GuardContract {

        private final int database;

        Cases(int database) {
            this.database = database;
        }

        @Override
        protected Mono<Void> write(String key, long fencingToken) {
            return guard(databases.get(database)).write(key, fencingToken, connection -> Mono.empty());
        }

        @Override
        protected Mono<Void> writeShared(String key, long fencingToken) {
            return guard(databases.get(database)).writeShared(key, fencingToken, connection -> Mono.empty());
        }

        /** It is a transaction's failure on the way, which what ends the transaction must not take for success. */
        @Test
        void aRefusalIsNotContinuedBySubscribers() {
            String key = "continued " + UUID.randomUUID();
            write(key, 9).block(Databases.LIMIT);

            for (Mono<Void> stale : List.of(write(key, 5), writeShared(key, 5))) {
                assertThatThrownBy(() -> Flux.from(stale)
                                .onErrorContinue((error, value) -> {})
                                .blockLast(Databases.LIMIT))
                        .isInstanceOf(StaleTokenException.class);
            }
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
    class OnMariaDbByMySqlDriver extends Cases {
        OnMariaDbByMySqlDriver() {
            super(2);
        }
    }

    @Nested
    class OnH2 extends Cases {
        OnH2() {
            super(3);
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aHolderWhoseLeaseEndedIsRefused(Databases database) {
        R2dbcFencingGuard guard = guard(database);
        LockClient lock = Databases.client(database.backend());
        LockOptions brief =
                LockOptions.defaults().withLease(Duration.ofSeconds(3)).withoutRenewal();
        LockHandle stale = lock.with(brief).acquire("account:7").block(Databases.LIMIT);
        LockHandle next = lock.acquire("account:7").block(Databases.LIMIT);
        write(guard, "account:7", next.fencingToken(), 100).block(Databases.LIMIT);

        assertThatThrownBy(
                        () -> write(guard, "account:7", stale.fencingToken(), 5).block(Databases.LIMIT))
                .isInstanceOfSatisfying(
                        StaleTokenException.class,
                        refused -> assertThat(refused.newestSeen()).isEqualTo(next.fencingToken()));

        assertThat(database.select("SELECT balance FROM account WHERE id = 7")).isEqualTo(100);
        lock.close().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aColumnOfTheUsersTableRemembersTheToken(Databases database) {
        R2dbcFencingGuard guard = guard(database).inColumn("account", "id", "fence");
        write(guard, 7L, 20, 20).block(Databases.LIMIT);
        write(guard, 7L, 20, 21).block(Databases.LIMIT);

        assertThatThrownBy(() -> write(guard, 7L, 19, 19).block(Databases.LIMIT))
                .isInstanceOf(StaleTokenException.class)
                .hasMessageContaining("20");

        assertThat(database.select("SELECT balance FROM account WHERE id = 7")).isEqualTo(21);
        assertThatThrownBy(() -> write(guard, 99L, 19, 19).block(Databases.LIMIT))
                .hasMessageContaining("no row");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void rowsWithOneKeyAreOneResource(Databases database) {
        String item = "item" + UUID.randomUUID().toString().replace("-", "");
        database.execute("CREATE TABLE " + item + " (id BIGINT PRIMARY KEY, orders BIGINT NOT NULL, fence BIGINT)");
        database.execute("INSERT INTO " + item + " VALUES (1, 7, 50), (2, 7, NULL), (3, 7, 4), (4, 8, 99)");
        R2dbcFencingGuard guard = guard(database).inColumn(item, "orders", "fence");

        for (Mono<Void> stale : List.of(
                guard.write(7, 5, connection -> Mono.<Void>empty()),
                guard.writeShared(7, 5, connection -> Mono.<Void>empty()))) {
            assertThatThrownBy(() -> on(stale))
                    .isInstanceOfSatisfying(
                            StaleTokenException.class,
                            refused -> assertThat(refused.newestSeen()).isEqualTo(50));
        }
        assertThat(database.select("SELECT count(*) FROM " + item + " WHERE fence = 5"))
                .isZero();
        on(guard.writeShared(7, 60, connection -> Mono.<Void>empty()));
        assertThat(database.select("SELECT count(*) FROM " + item + " WHERE fence = 60"))
                .isZero();
        on(guard.write(7, 60, connection -> Mono.<Void>empty()));

        assertThat(database.select("SELECT count(*) FROM " + item + " WHERE fence = 60"))
                .isEqualTo(3);
        assertThat(database.select("SELECT fence FROM " + item + " WHERE id = 4"))
                .isEqualTo(99);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aWriteIsOneTransactionWithItsCheck(Databases database) {
        R2dbcFencingGuard guard = guard(database);
        String resource = UUID.randomUUID().toString();
        long account = (long) nextAccount(database);
        Function<Connection, Mono<Long>> change = connection ->
                Databases.number(connection, "UPDATE account SET balance = balance + 1 WHERE id = " + account);
        Function<Connection, Mono<Long>> failing =
                connection -> change.apply(connection).then(Mono.error(new ArithmeticException()));

        on(guard.write(resource, 20, change));
        assertThatThrownBy(() -> on(guard.write(resource, 30, failing))).isInstanceOf(ArithmeticException.class);
        assertThatThrownBy(() -> on(guard.write(resource, 19, change))).isInstanceOf(StaleTokenException.class);
        on(guard.write(resource, 21, change));

        assertThat(database.select("SELECT balance FROM account WHERE id = " + account))
                .isEqualTo(2);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void withoutATransactionItRefusesToCheck(Databases database) {
        R2dbcFencingGuard guard = guard(database);
        Mono<Void> unprotected = Mono.usingWhen(
                        database.factory().create(), connection -> guard.check(connection, "x", 1), Connection::close)
                .subscribeOn(Schedulers.boundedElastic());

        assertThatThrownBy(() -> unprotected.block(Databases.LIMIT)).hasMessageContaining("begin a transaction");
    }

    Stream<FencingLevel> levels() {
        return databases.stream()
                .flatMap(database -> Stream.of("READ UNCOMMITTED", "READ COMMITTED", "REPEATABLE READ", "SERIALIZABLE")
                        .flatMap(level -> Stream.of(
                                new FencingLevel(database, level, true, false),
                                new FencingLevel(database, level, false, false),
                                new FencingLevel(database, level, false, true))));
    }

    @ParameterizedTest
    @MethodSource("levels")
    void aTransactionThatReadBeforeTheNewerHolderWroteIsRefused(FencingLevel level) {
        Databases database = level.database();
        R2dbcFencingGuard guard = level.guard();
        Object resource =
                level.inColumn() ? nextAccount(database) : UUID.randomUUID().toString();
        if (!level.isNew()) {
            write(guard, resource, 10, 0).block(Databases.LIMIT);
        }
        Connection stale = connection(database);
        on(level.begin(stale));
        assertThat(on(Databases.number(stale, "SELECT balance FROM account WHERE id = 8")))
                .isZero();
        write(guard, resource, 20, 100).block(Databases.LIMIT);

        assertThatThrownBy(() -> on(guard.check(stale, resource, 19)))
                .satisfies(error -> assertThat(error instanceof StaleTokenException
                                || (level.endsOldSnapshots() && R2dbcFailure.wasRolledBack(error)))
                        .as(String.valueOf(error))
                        .isTrue());

        on(Mono.from(stale.rollbackTransaction()));
        on(Mono.from(stale.close()));
    }

    @ParameterizedTest
    @MethodSource("levels")
    void theNewestHolderWritesAtEveryLevel(FencingLevel level) {
        Databases database = level.database();
        R2dbcFencingGuard guard = level.guard();
        Object resource =
                level.inColumn() ? nextAccount(database) : UUID.randomUUID().toString();
        if (!level.isNew()) {
            write(guard, resource, 10, 0).block(Databases.LIMIT);
        }
        for (long token : new long[] {20, 20, 21}) {
            Connection newest = connection(database);
            on(level.begin(newest));
            on(Databases.number(newest, "SELECT balance FROM account WHERE id = 8"));
            on(guard.check(newest, resource, token));
            on(Mono.from(newest.commitTransaction()));
            on(Mono.from(newest.close()));
        }
        assertThatThrownBy(() -> write(guard, resource, 19, 0).block(Databases.LIMIT))
                .isInstanceOf(StaleTokenException.class);
    }

    private final AtomicLong accounts = new AtomicLong(100);

    private Object nextAccount(Databases database) {
        long id = accounts.incrementAndGet();
        database.execute("INSERT INTO account (id, balance) VALUES (" + id + ", 0)");
        return id;
    }

    private static Connection connection(Databases database) {
        return Mono.from(database.factory().create())
                .cast(Connection.class)
                .subscribeOn(Schedulers.boundedElastic())
                .block(Databases.LIMIT);
    }

    @CanIgnoreReturnValue
    private static <T> T on(Mono<T> step) {
        return step.subscribeOn(Schedulers.boundedElastic()).block(Databases.LIMIT);
    }

    @Test
    void aTokenThatTheDatabaseDoesNotKeepIsAnError() {
        Databases postgres = databases.get(0);
        postgres.execute("CREATE FUNCTION drop_it() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN IF NEW.resource = 'untold' THEN RETURN NULL; END IF; RETURN NEW; END $$");
        postgres.execute("CREATE TRIGGER drops BEFORE INSERT ON reactive_lock_fence FOR EACH ROW"
                + " EXECUTE FUNCTION drop_it()");

        assertThatThrownBy(() -> write(guard(postgres), "untold", 20, 1).block(Databases.LIMIT))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was not kept");
        postgres.execute("DROP TRIGGER drops ON reactive_lock_fence");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aDatabaseWhoseNameTellsNothingIsAsked(Databases database) {
        assumeThat(database.url()).doesNotContain(":h2:");
        Connection real = connection(database);
        Connection hidden = (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("getMetadata")) {
                        return Proxy.newProxyInstance(
                                Connection.class.getClassLoader(),
                                new Class<?>[] {ConnectionMetadata.class},
                                (metadata, question, nothing) -> "Debian 12");
                    }
                    return method.invoke(real, arguments);
                });
        on(Mono.from(real.beginTransaction()));

        on(guard(database).check(hidden, UUID.randomUUID().toString(), 5));

        on(Mono.from(real.commitTransaction()));
        on(Mono.from(real.close()));
    }

    /** In MySQL a backend tells its connections how long statements wait. That is for its own ones. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aWriteOverABackendsConnectionsWaitsForTheServersOwnTime(Databases database) {
        assumeThat(database.url()).contains("/mysql");
        String patience = "SELECT @@SESSION.innodb_lock_wait_timeout";
        R2dbcLockBackend backend = R2dbcLockBackend.connect(database.factory(), Databases.PATIENT.withConnections(1));
        R2dbcFencingGuard guard = backend.fencingGuard();
        String resource = UUID.randomUUID().toString();
        long asTheServerSays = database.select(patience);

        for (int i = 0; i < 2; i++) {
            assertThat(on(backend.isCurrent(resource, 1))).isFalse();
            long inAWrite = on(guard.write(resource, 20, (Connection own) -> Databases.number(own, patience)));
            assertThat(inAWrite).isEqualTo(asTheServerSays);
            assertThatThrownBy(() ->
                            on(guard.write(resource, 20, connection -> Mono.<Long>error(new ArithmeticException()))))
                    .isInstanceOf(ArithmeticException.class);
        }

        on(backend.close());
    }
}
