package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.spi.support.LateId;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What a transaction that holds rows of the lock tables and does not end costs, and that nothing is granted for too
 * long.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class StuckTest {

    /** A database, how its users name a key, what its clock is, and how many statements wait for a row. */
    record Site(Databases database, String key, String clock, String waiting) {
        @Override
        public String toString() {
            return database.toString();
        }

        long now() {
            return database.select("SELECT " + clock);
        }

        long waiters() {
            return database.select(waiting);
        }

        long leaseEnd(Claim claim) {
            return database.select("SELECT lease_end FROM reactive_lock WHERE claim_id = '" + claim.id() + "'");
        }

        /** A transaction that holds rows. */
        Connection holding(String rows) {
            Connection outsider = Mono.from(database.factory().create()).block(Databases.LIMIT);
            Mono.from(outsider.beginTransaction()).block(Databases.LIMIT);
            long unused = Databases.number(outsider, rows + " FOR UPDATE").block(Databases.LIMIT);
            return outsider;
        }

        /** As an administrator does, or a limit for statements. */
        void endReleases() {
            if (clock.equals(Dialect.POSTGRESQL.now)) {
                database.execute("SELECT count(pg_cancel_backend(pid)) FROM pg_locks WHERE NOT granted");
            } else {
                database.execute("KILL QUERY "
                        + database.select("SELECT max(id) FROM information_schema.processlist"
                                + " WHERE info LIKE '%UPDATE reactive_lock SET%' AND id <> connection_id()"));
            }
        }

        Connection holdingRowOf(String lock) {
            return holding("SELECT token FROM reactive_lock WHERE lock_key = " + String.format(key, lock));
        }
    }

    private static final Duration LEASE = Duration.ofSeconds(60);

    private final List<LockBackend> backends = new ArrayList<>();
    private Site postgres;
    private Site mariaDb;

    @BeforeAll
    void start() {
        PostgresServer one = PostgresServer.start();
        MariaDbServer other = MariaDbServer.start("--innodb-lock-wait-timeout=600"); // longer than any test
        postgres = new Site(
                new Databases(one.url(), one::close),
                "convert_to('%s', 'UTF8')",
                Dialect.POSTGRESQL.now,
                "SELECT count(*) FROM pg_locks WHERE NOT granted");
        mariaDb = new Site(
                new Databases(other.url("mariadb"), other::close),
                "'%s'",
                Dialect.MARIADB.now,
                Databases.MARIADB_WAITERS);
        sites().forEach(site -> site.database().createTables());
    }

    @AfterEach
    void closeBackends() {
        backends.forEach(backend -> backend.close().block(Databases.LIMIT));
        backends.clear();
    }

    @AfterAll
    void stop() {
        sites().forEach(site -> site.database().close());
    }

    Stream<Site> sites() {
        return Stream.of(postgres, mariaDb);
    }

    private R2dbcLockBackend backend(Site site, Duration commandTimeout) {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(
                site.database().factory(), Databases.PATIENT.withCommandTimeout(commandTimeout));
        backends.add(backend);
        return backend;
    }

    private R2dbcLockBackend backend(Site site) {
        return backend(site, Databases.PATIENT.commandTimeout());
    }

    private static Claim claim(String key) {
        return new Claim(key, UUID.randomUUID().toString(), "me", LEASE, Claim.Mode.QUEUE);
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static <T> T within(CompletableFuture<T> answer) {
        return answer.orTimeout(Databases.LIMIT.toSeconds(), TimeUnit.SECONDS).join();
    }

    private static void end(Connection outsider) {
        Mono.from(outsider.rollbackTransaction()).block(Databases.LIMIT);
        Mono.from(outsider.close()).block(Databases.LIMIT);
    }

    private static long micros(Duration time) {
        return TimeUnit.NANOSECONDS.toMicros(time.toNanos());
    }

    @ParameterizedTest
    @MethodSource("sites")
    void aLeaseBeginsWhenItsRowIsLockedNotWhenAskedFor(Site site) {
        R2dbcLockBackend backend = backend(site);
        Claim holder = claim("late row");
        Claim next = claim("late row");
        assertThat(get(backend.claim(holder))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(get(backend.claim(next))).isInstanceOf(ClaimResult.Queued.class);
        Connection outsider = site.holdingRowOf("late row");
        CompletableFuture<Boolean> release = backend.release(holder).toFuture();
        Databases.until("the hand-over waits for the row", () -> site.waiters() > 0);

        long then = site.now();
        end(outsider);

        assertThat(within(release)).isTrue();
        assertThat(site.leaseEnd(next)).isGreaterThanOrEqualTo(then + micros(LEASE));
    }

    @ParameterizedTest
    @MethodSource("sites")
    void aQueuedClaimsGrantBeginsAfterTheAnswerQueued(Site site) {
        R2dbcLockBackend holding = backend(site);
        R2dbcLockBackend waiting = backend(site);
        Claim holder = claim("late queue");
        Claim next = claim("late queue");
        assertThat(get(holding.claim(holder))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(get(waiting.claim(next))).isInstanceOf(ClaimResult.Queued.class);
        Connection outsider =
                site.holding("SELECT place FROM reactive_lock_waiter WHERE claim_id = '" + next.id() + "'");
        CompletableFuture<Boolean> release = holding.release(holder).toFuture();
        Databases.until("the hand-over waits for the claim's row", () -> site.waiters() > 0);

        long asked = site.now();
        CompletableFuture<ClaimResult> answer = waiting.claim(next).toFuture();
        Databases.until("it is answered, or waits as well", () -> answer.isDone() || site.waiters() > 1);
        end(outsider);

        assertThat(within(release)).isTrue();
        if (within(answer) instanceof ClaimResult.Queued) {
            assertThat(site.leaseEnd(next)).isGreaterThanOrEqualTo(asked + micros(LEASE));
        }
    }

    @ParameterizedTest
    @MethodSource("sites")
    void aRowThatIsLockedCostsItsOwnHoldOnly(Site site) {
        R2dbcLockBackend backend = backend(site, Duration.ofSeconds(8));
        List<Claim> held =
                IntStream.range(0, 20).mapToObj(i -> claim("hold " + i)).toList();
        Claim stranger = claim("hold of another client");
        R2dbcLockBackend other = backend(site);
        assertThat(get(other.claim(stranger))).isInstanceOf(ClaimResult.Granted.class);
        Flux.fromIterable(held).concatMap(backend::claim).then().block(Databases.LIMIT);
        Connection stuck = site.holdingRowOf("hold 7");
        Connection elsewhere = site.holdingRowOf("hold of another client");

        RenewalResult answer = get(backend.renew(held));

        assertThat(answer.renewed()).hasSize(19).doesNotContain(held.get(7).id());
        assertThat(answer.lost()).isEmpty();
        end(stuck);
        end(elsewhere);
        // At the server the question that was given up may have the row for a moment now.
        Databases.until(
                "all are renewed", () -> get(backend.renew(held)).renewed().size() == 20);
        assertThat(get(backend.renew(List.of(stranger))).lost()).isEmpty();
    }

    @ParameterizedTest
    @MethodSource("sites")
    void statementsThatWereGivenUpDoNotGoOnWaitingAtTheServer(Site site) {
        R2dbcLockBackend impatient = backend(site, Duration.ofMillis(1_200));
        R2dbcLockBackend patient = backend(site);
        assertThat(get(patient.claim(claim("piled up")))).isInstanceOf(ClaimResult.Granted.class);
        Connection stuck = site.holdingRowOf("piled up");

        for (int i = 0; i < 3; i++) {
            Throwable failure = impatient
                    .claim(claim("piled up"))
                    .map(answer -> new Throwable("answered " + answer))
                    .onErrorResume(Mono::just)
                    .block(Databases.LIMIT);
            assertThat(failure).hasMessageContaining("transaction");
        }

        Databases.until("none of them waits any more, though the row is locked", () -> site.waiters() == 0);
        end(stuck);
        assertThat(get(patient.claim(claim("piled up")))).isInstanceOf(ClaimResult.Queued.class);
    }

    @ParameterizedTest
    @MethodSource("sites")
    void releasesThatWereGivenUpDoNotGoOnWaitingAtTheServer(Site site) {
        R2dbcLockBackend impatient = backend(site, Duration.ofMillis(1_200));
        R2dbcLockBackend patient = backend(site);
        Claim held = claim("not released");
        Claim outlasting = claim("not released");
        assertThat(get(patient.claim(held))).isInstanceOf(ClaimResult.Granted.class);
        Connection stuck = site.holdingRowOf("not released");

        for (Mono<Boolean> ending : List.of(impatient.keep(held, outlasting), impatient.release(held))) {
            Throwable failure = ending.map(answer -> new Throwable("answered " + answer))
                    .onErrorResume(Mono::just)
                    .block(Databases.LIMIT);
            assertThat(failure).hasMessageContaining("transaction");
            Databases.until("it does not wait any more, though the row is locked", () -> site.waiters() == 0);
        }
        end(stuck);
        assertThat(get(patient.release(held))).isTrue();
    }

    @ParameterizedTest
    @MethodSource("sites")
    void aReleaseThatSomebodyEndsAtTheServerIsAnErrorThatSaysSo(Site site) {
        R2dbcLockBackend backend = backend(site);
        Claim held = claim("ended by hand");
        assertThat(get(backend.claim(held))).isInstanceOf(ClaimResult.Granted.class);
        Connection stuck = site.holdingRowOf("ended by hand");
        CompletableFuture<Boolean> release = backend.release(held).toFuture();
        Databases.until("it waits for the row", () -> site.waiters() > 0);

        site.endReleases();

        assertThatThrownBy(() -> within(release)).hasMessageContaining("ended this before it was done");
        end(stuck);
        assertThat(get(backend.release(held))).isTrue();
    }

    @ParameterizedTest
    @MethodSource("sites")
    void aClientThatStopsInATransactionDelaysItsKeyForAMoment(Site site) {
        R2dbcBackendOptions brief = R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(5));
        Database stopping = new Database(site.database().factory(), brief);
        Connection connection = Mono.from(site.database().factory().create()).block(Databases.LIMIT);
        CompletableFuture<Boolean> locked = new CompletableFuture<>();
        var stopped = HandOverTransaction.of(
                        new SqlSession(connection, stopping.sql),
                        new SignalSink(stopping, new LateId(() -> "stopped")),
                        "stopped",
                        (transfer, row) -> Mono.<Boolean>never().doOnSubscribe(s -> locked.complete(true)))
                .onErrorComplete()
                .subscribe();
        assertThat(within(locked)).isTrue();

        R2dbcLockBackend other = backend(site, Duration.ofSeconds(30));

        assertThat(get(other.claim(claim("stopped")))).isInstanceOf(ClaimResult.Granted.class);
        stopped.dispose();
        Mono.from(connection.close()).onErrorComplete().block(Databases.LIMIT);
    }
}
