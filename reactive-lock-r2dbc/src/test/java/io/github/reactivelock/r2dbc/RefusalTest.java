package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.state.Share;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What a database refuses: for now, for good, or of one lock alone. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RefusalTest {

    private Databases postgres;
    private Databases mariaDb;

    @BeforeAll
    void start() {
        postgres = Databases.postgres();
        mariaDb = Databases.mariaDb("mariadb");
        Stream.of(postgres, mariaDb).forEach(Databases::createTables);
    }

    @AfterAll
    void stop() {
        Stream.of(postgres, mariaDb).forEach(Databases::close);
    }

    Stream<Databases> servers() {
        return Stream.of(postgres, mariaDb, mariaDb.byMySqlDriver());
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static Throwable failure(Mono<?> answer) {
        return answer.map(unexpected -> new Throwable("answered " + unexpected))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);
    }

    /** A server that starts: PostgreSQL says so, and the others do not listen yet. */
    private static ConnectionFactory refusing(ConnectionFactory real, AtomicInteger times, Mono<Connection> refusal) {
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.defer(() -> times.getAndDecrement() > 0 ? refusal : Mono.from(real.create()));
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return real.getMetadata();
            }
        };
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("servers")
    void aServerThatRefusesConnectionsForAMomentIsWaitedForByEveryCommand(Databases database) {
        AtomicInteger times = new AtomicInteger();
        Mono<Connection> refused =
                Mono.error(() -> new io.r2dbc.spi.R2dbcNonTransientResourceException("starting up", "57P03", 0));
        R2dbcLockBackend backend = R2dbcLockBackend.using(
                refusing(database.factory(), times, refused), Databases.PATIENT.withoutNotifications());
        Claim claim = Databases.claim("refused for a moment " + UUID.randomUUID());

        times.set(20);
        assertThat(get(backend.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
        times.set(20);
        assertThat(get(backend.renew(List.of(claim))).renewed()).containsExactly(claim.id());
        times.set(20);
        assertThat(get(backend.inspect(claim.key())).isHeld()).isTrue();
        times.set(20);
        assertThat(get(backend.release(claim))).isTrue();
        get(backend.close());
    }

    @Test
    void aServerWithAsManyConnectionsAsItMayIsWaitedFor() {
        try (Databases full = Databases.mariaDb("mariadb", "--max-connections=3")) {
            full.createTables();
            R2dbcLockBackend backend = R2dbcLockBackend.connect(full.factory(), Databases.PATIENT);
            List<Connection> others = new ArrayList<>();
            boolean isFull = false;
            while (!isFull) { // one more than max_connections is let in for the administrator
                isFull = Mono.from(full.factory().create())
                        .doOnNext(others::add)
                        .map(opened -> false)
                        .onErrorReturn(true)
                        .block(Databases.LIMIT);
            }
            CompletableFuture<ClaimResult> answer =
                    backend.claim(Databases.claim("full")).toFuture();
            Databases.until(
                    "it was refused",
                    () -> Databases.number(others.get(0), Databases.counted("CONNECTION_ERRORS_MAX_CONNECTIONS"))
                                    .block(Databases.LIMIT)
                            > 10);

            others.forEach(other -> get(Mono.from(other.close())));

            assertThat(answer).succeedsWithin(Databases.LIMIT).isInstanceOf(ClaimResult.Granted.class);
            get(backend.close());
        }
    }

    @Test
    void whatARefusalWasIsToldWhenItLastsLongerThanACommand() {
        AtomicInteger times = new AtomicInteger(Integer.MAX_VALUE);
        Mono<Connection> refused = Mono.error(() ->
                new io.r2dbc.spi.R2dbcNonTransientResourceException("sorry, too many clients already", "53300", 0));
        R2dbcLockBackend backend = R2dbcLockBackend.using(
                refusing(postgres.factory(), times, refused),
                R2dbcBackendOptions.defaults()
                        .withCommandTimeout(Duration.ofSeconds(4)) // of a busy machine too
                        .withoutNotifications());

        assertThat(failure(backend.claim(Databases.claim("refused for long"))))
                .hasMessageContaining("sorry, too many clients already")
                .hasMessageContaining("max_connections");
        get(backend.close());
    }

    /** A refusal that lasts is not tried again, and its connection is as good as before. */
    @Test
    void aStandbyIsToldAsOneAndCostsOneConnection() {
        postgres.execute("CREATE DATABASE standby");
        Databases standby = new Databases(postgres.url().replaceAll("/postgres$", "/standby"), () -> {});
        standby.createTables();
        postgres.execute("ALTER DATABASE standby SET default_transaction_read_only = on");
        Tapped tapped = Tapped.of(standby.factory());
        R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT.withoutNotifications());

        for (int i = 0; i < 5; i++) {
            assertThat(failure(backend.claim(Databases.claim("standby"))))
                    .hasMessageContaining("takes no writes")
                    .hasMessageContaining("standby")
                    .hasMessageNotContaining("address, user and password");
        }

        assertThat(tapped.opened()).hasValue(1);
        assertThat(tapped.statements())
                .filteredOn(text -> !text.contains("client_connection_check_interval")) // once a connection
                .hasSize(5);
        get(backend.close());
    }

    @Test
    void aDatabaseThatIsReadOnlyIsNotReady() {
        postgres.execute("CREATE DATABASE reading");
        Databases reading = new Databases(postgres.url().replaceAll("/postgres$", "/reading"), () -> {});
        reading.createTables();
        LockClient lock = LockClient.create(R2dbcLockBackend.connect(reading.factory(), Databases.PATIENT));
        lock.ready().block(Databases.LIMIT);
        lock.close().block(Databases.LIMIT);

        postgres.execute("ALTER DATABASE reading SET default_transaction_read_only = on");
        LockClient refused = LockClient.create(R2dbcLockBackend.connect(reading.factory(), Databases.PATIENT));
        assertThat(failure(refused.ready())).hasMessageContaining("not ready").hasMessageContaining("takes no writes");
        refused.close().block(Databases.LIMIT);
    }

    @Test
    void aMariaDbThatIsReadOnlyIsToldAsOne() {
        mariaDb.execute("CREATE USER IF NOT EXISTS reader@'127.0.0.1'");
        mariaDb.execute("GRANT SELECT, INSERT, UPDATE, DELETE ON mysql.* TO reader@'127.0.0.1'");
        mariaDb.execute("SET GLOBAL read_only = ON");
        try {
            for (Databases driver : List.of(mariaDb, mariaDb.byMySqlDriver())) {
                Databases reader = new Databases(driver.url().replace("root@", "reader@"), () -> {});
                R2dbcLockBackend backend = R2dbcLockBackend.connect(reader.factory(), Databases.PATIENT);

                assertThat(failure(backend.claim(Databases.claim("read only"))))
                        .hasMessageContaining("takes no writes")
                        .hasMessageContaining("read_only");
                assertThat(failure(backend.probe("read only"))).hasMessageContaining("takes no writes");
                get(backend.close());
            }
        } finally {
            mariaDb.execute("SET GLOBAL read_only = OFF");
        }
    }

    /** MariaDB takes no triggers in the database of the tests. */
    private static Databases elsewhere(Databases server) {
        server.execute("CREATE DATABASE IF NOT EXISTS refusing");
        Databases elsewhere = new Databases(server.url().replaceAll("/mysql$", "/refusing"), () -> {});
        elsewhere.createTables();
        return elsewhere;
    }

    private static Claim claim(String key, Share share) {
        return new Claim(
                key,
                UUID.randomUUID().toString(),
                "me",
                Duration.ofMinutes(2),
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                share);
    }

    /** By a trigger, as a policy or a full partition does. */
    private static void refuse(Databases database, String table, String bad, boolean isMariaDb) {
        if (isMariaDb) {
            database.execute("CREATE TRIGGER refuse BEFORE UPDATE ON " + table + " FOR EACH ROW IF OLD.lock_key LIKE '"
                    + bad + "%' THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF");
            return;
        }
        database.execute("CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN IF position('" + bad + "' in convert_from(OLD.lock_key, 'UTF8')) > 0"
                + " THEN RAISE EXCEPTION 'no'; END IF; RETURN NEW; END $$");
        database.execute("CREATE TRIGGER refuse BEFORE UPDATE ON " + table + " FOR EACH ROW EXECUTE FUNCTION refuse()");
    }

    private static void refuseNoMore(Databases database, String table, boolean isMariaDb) {
        database.execute("DROP TRIGGER refuse" + (isMariaDb ? "" : " ON " + table));
        if (!isMariaDb) {
            database.execute("DROP FUNCTION refuse");
        }
    }

    /** A claim that waits, whose row the database refuses to change. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRefusedRowAmongClaimsThatWaitCostsItsOwnPlaceOnly(boolean isMariaDb) {
        Databases database = isMariaDb ? elsewhere(mariaDb) : postgres;
        R2dbcLockBackend holding = database.backend();
        R2dbcLockBackend waiting = database.backend();
        String bad = "bad" + UUID.randomUUID();
        List<Claim> held = IntStream.range(0, 20)
                .mapToObj(i -> claim((i == 7 ? bad : "waited for " + i) + isMariaDb, Share.WHOLE))
                .toList();
        List<Claim> waits =
                held.stream().map(claim -> claim(claim.key(), Share.WHOLE)).toList();
        get(Flux.fromIterable(held).concatMap(holding::claim).then());
        Mono<List<Throwable>> failures = Flux.fromIterable(waits)
                .flatMap(claim -> waiting.claim(claim)
                        .filter(answer -> !(answer instanceof ClaimResult.Queued))
                        .<Throwable>map(answer -> new Throwable(claim.key() + " is " + answer))
                        .onErrorResume(error -> Mono.just(new Throwable(claim.key(), error))))
                .collectList();
        assertThat(get(failures)).isEmpty();
        refuse(database, "reactive_lock_waiter", bad, isMariaDb);
        try {
            assertThat(get(failures))
                    .singleElement()
                    .satisfies(error ->
                            assertThat(error).hasMessageStartingWith(bad).hasCauseInstanceOf(RuntimeException.class));
        } finally {
            refuseNoMore(database, "reactive_lock_waiter", isMariaDb);
        }
        assertThat(get(failures)).isEmpty();
        get(Flux.fromIterable(held).concatMap(holding::release).then());
        get(Flux.fromIterable(waits).concatMap(waiting::release).then());
        get(waiting.close().then(holding.close()));
    }

    /** A row that the database refuses to change. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRefusedRowInABatchOfRenewalsCostsItsOwnHoldOnly(boolean isMariaDb) {
        Databases database = isMariaDb ? elsewhere(mariaDb) : postgres;
        R2dbcLockBackend backend = database.backend();
        String bad = "bad" + UUID.randomUUID();
        List<Claim> held = Stream.concat(
                        IntStream.range(0, 20)
                                .mapToObj(i -> claim((i == 7 ? bad : "whole " + i) + isMariaDb, Share.WHOLE)),
                        IntStream.range(0, 6)
                                .mapToObj(i ->
                                        claim((i == 2 ? bad : "share " + i) + "s" + isMariaDb, Share.permits(1, 3))))
                .toList();
        get(Flux.fromIterable(held).concatMap(backend::claim).then());
        refuse(database, "reactive_lock", bad, isMariaDb);
        try {
            RenewalResult answer = get(backend.renew(held));

            assertThat(answer.renewed())
                    .containsExactlyInAnyOrderElementsOf(held.stream()
                            .filter(claim -> !claim.key().startsWith(bad))
                            .map(Claim::id)
                            .toList());
            assertThat(answer.lost()).isEmpty();
        } finally {
            refuseNoMore(database, "reactive_lock", isMariaDb);
        }
        assertThat(get(backend.renew(held)).renewed()).hasSize(26);
        get(backend.close());
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aRefusedShareLeavesTheOthersRenewedWithoutATurnOfTheirOwn(boolean isMariaDb) {
        Databases server = isMariaDb ? elsewhere(mariaDb) : postgres;
        R2dbcLockBackend backend = server.backend();
        String bad = "bad" + UUID.randomUUID();
        List<Claim> held = IntStream.range(0, 30)
                .mapToObj(i -> claim((i == 11 ? bad : "turn " + i) + isMariaDb, Share.permits(1, 3)))
                .toList();
        get(Flux.fromIterable(held).concatMap(backend::claim).then());
        Database database = new Database(server.factory(), Databases.PATIENT);
        ShareRenewal renewal = new ShareRenewal(
                database, new SignalSink(database, new LateId(() -> "turns")), /* for turns */ Duration.ZERO);
        refuse(server, "reactive_lock", bad, isMariaDb);
        try {
            assertThat(get(renewal.renew(held)).renewed())
                    .hasSize(29)
                    .doesNotContain(held.get(11).id());
        } finally {
            refuseNoMore(server, "reactive_lock", isMariaDb);
        }
        get(backend.close());
    }

    @Test
    void sharesThatCannotBeRenewedCostNoWholeLock() {
        R2dbcLockBackend backend = postgres.backend();
        List<Claim> held = List.of(claim("beside shares", Share.WHOLE), claim("shares", Share.permits(1, 3)));
        get(Flux.fromIterable(held).concatMap(backend::claim).then());
        postgres.execute("ALTER TABLE reactive_lock_share RENAME TO gone");
        try {
            RenewalResult answer = get(backend.renew(held));

            assertThat(answer.renewed()).containsExactly(held.get(0).id());
            assertThat(answer.lost()).isEmpty();
            assertThat(failure(backend.renew(held.subList(1, 2)))).hasMessageContaining("no tables");
        } finally {
            postgres.execute("ALTER TABLE gone RENAME TO reactive_lock_share");
        }
        assertThat(get(backend.renew(held)).renewed()).hasSize(2);
        get(backend.close());
    }
}
