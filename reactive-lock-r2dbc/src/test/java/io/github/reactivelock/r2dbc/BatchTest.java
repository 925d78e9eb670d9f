package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.RenewalResult;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testservers.Pause;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactoryOptions;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What many holds cost a database: no statement for each lease, and no text for each number of them. */
class BatchTest extends EachDatabase {

    /** For hundreds of things one after another, on a busy machine. */
    private static final Duration LONG_LIMIT = Duration.ofMinutes(5);

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static Claim claim(String key, int lease, Share share) {
        return new Claim(
                key,
                UUID.randomUUID().toString(),
                "me",
                Duration.ofMillis(120_000 + lease),
                Claim.Mode.QUEUE,
                Claim.Keeping.RENEWED,
                share);
    }

    private static List<Claim> claims(int whole, int shares) {
        return Stream.concat(
                        IntStream.range(0, whole).mapToObj(i -> claim("whole " + UUID.randomUUID(), i, Share.WHOLE)),
                        IntStream.range(0, shares).mapToObj(i -> claim("shared", 2 * i, Share.permits(1, 1_000))))
                .toList();
    }

    private static long leaseEnd(Databases database, Claim claim) {
        String table = claim.share().isWhole() ? "reactive_lock" : "reactive_lock_share";
        return database.select("SELECT lease_end FROM " + table + " WHERE claim_id = '" + claim.id() + "'");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void holdsOfManyLeasesAreRenewedTogetherEachForItsOwn(Databases database) {
        Tapped tapped = Tapped.of(database.factory());
        R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT.withoutNotifications());
        List<Claim> held = claims(60, 20);
        get(Flux.fromIterable(held).concatMap(backend::claim).then());
        tapped.statements().clear();
        long before = database.select("SELECT " + Dialect.of(database.factory()).now);

        RenewalResult answer = get(backend.renew(held));

        assertThat(answer.renewed()).hasSize(80);
        assertThat(tapped.statements()).hasSizeLessThan(12);
        long after = database.select("SELECT " + Dialect.of(database.factory()).now);
        for (Claim claim : List.of(held.get(0), held.get(59), held.get(60), held.get(79))) {
            long lease = Micros.of(claim.lease());
            assertThat(leaseEnd(database, claim) - lease).isBetween(before, after);
        }
        get(Flux.fromIterable(held).concatMap(backend::release).then());
        get(backend.close());
    }

    /** MySQL gets a text of several statements by its own driver. */
    List<Databases> databasesAndMySqlsDriver() {
        return Stream.concat(databases().stream(), Stream.of(databases().get(1).byMySqlDriver()))
                .toList();
    }

    /** As an engine keeps them alive: each by itself, and they began at different times. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databasesAndMySqlsDriver")
    void claimsThatWaitAreKeptAliveTogether(Databases database) {
        int many = 300;
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(database.url())));
        R2dbcLockBackend holding = database.backend();
        List<Claim> held = claims(many, 0);
        get(Flux.fromIterable(held).concatMap(holding::claim).then());

        areKeptTogether(
                database, tapped, Fairness.COHORT, held, Flux.fromIterable(held).flatMap(holding::release));

        boolean unused = get(holding.close().thenReturn(true));
    }

    /** None of them keeps another one, or the release that serves them, from its turn. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databasesAndMySqlsDriver")
    void claimsThatWaitForOneLockAreKeptAliveTogether(Databases database) {
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(database.url())));
        R2dbcLockBackend holding = database.backend();
        Claim held = claims(1, 0).get(0);
        get(holding.claim(held).then());

        areKeptTogether(
                database,
                tapped,
                Fairness.FIFO,
                Collections.nCopies(300, held),
                holding.release(held).flux());

        boolean unused = get(holding.close().thenReturn(true));
    }

    List<Databases> databasesThatPush() {
        return databasesAndMySqlsDriver().stream()
                .filter(database -> !database.url().startsWith("r2dbc:h2:"))
                .filter(database -> !Databases.IS_MYSQL || !database.url().startsWith("r2dbc:mariadb:"))
                .toList();
    }

    /** How many statements there were: as MariaDB counts them, or all that a client of PostgreSQL asked for. */
    private static long asked(ConnectionPool looking, Tapped tapped) {
        return looking.getMetadata().getName().contains("PostgreSQL")
                ? tapped.statements().size()
                : Databases.select(looking, Databases.counted("QUESTIONS"));
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databasesThatPush")
    void aClientThatWaitsForAThousandKeysAsksOnceASecondAtMost(Databases database) {
        Tapped tapped = Tapped.of(R2dbcLockBackend.opening(ConnectionFactoryOptions.parse(database.url())));
        R2dbcLockBackend holding = database.backend();
        List<Claim> held = IntStream.range(0, 1_000)
                .mapToObj(i -> claim("quiet " + UUID.randomUUID(), 480_000, Share.WHOLE))
                .toList();
        Object unusedClaims =
                Flux.fromIterable(held).concatMap(holding::claim).then().block(LONG_LIMIT);
        R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT);
        LockClient waiting = Databases.client(backend);
        Disposable waits = Flux.fromIterable(held)
                .flatMap(claim -> waiting.withLock(claim.key(), Mono.just(true)), held.size())
                .subscribe(done -> {}, error -> {});
        ConnectionPool looking = database.pool(1);
        Pause.until(
                "all wait",
                LONG_LIMIT,
                () -> Databases.select(looking, "SELECT count(*) FROM reactive_lock_waiter") == held.size());
        Databases.until("it is pushed to", backend::isPushed);

        Pause.until("a statement a second are enough", LONG_LIMIT, () -> {
            long before = asked(looking, tapped);
            long began = System.nanoTime();
            Object unused = Mono.delay(Duration.ofSeconds(18)).block(Databases.LIMIT);
            long after = asked(looking, tapped);
            long seconds = Duration.ofNanos(System.nanoTime() - began).toSeconds();
            return after - before <= seconds;
        });

        waits.dispose();
        Object unusedReleases = waiting.close()
                .then(Flux.fromIterable(held).flatMap(holding::release).then())
                .block(LONG_LIMIT);
        get(holding.close());
        Databases.dispose(looking);
    }

    /** Or each would be asked for by itself, lock the row of the lock again, and pass others over. */
    @Test
    void inH2PlacesWhoseLockIsLockedAreAskedForAgainTogether() {
        Databases h2 = databases().get(2);
        R2dbcLockBackend backend = h2.backend();
        Claim held = claims(1, 0).get(0);
        Claim waits = claim(held.key(), 1, Share.WHOLE);
        get(backend.claim(held).then(backend.claim(waits)).then());
        Tapped tapped = Tapped.of(h2.factory());
        Places places = new Places(new Database(tapped, Databases.PATIENT), claim -> {});
        Connection outsider = Mono.from(h2.factory().create()).block(Databases.LIMIT);
        get(Mono.from(outsider.beginTransaction())
                .thenMany(Flux.from(outsider.createStatement("SELECT token FROM reactive_lock FOR UPDATE")
                                .execute())
                        .flatMap(result -> result.map((row, metadata) -> 1)))
                .then());

        boolean isKept = Boolean.TRUE.equals(places.kept(waits).hasElement().block(Databases.LIMIT));

        assertThat(isKept).isFalse();
        assertThat(tapped.statements())
                .filteredOn(text -> text.contains("SKIP LOCKED"))
                .hasSizeGreaterThan(2);
        get(Mono.from(outsider.rollbackTransaction()).then(Mono.from(outsider.close())));
        assertThat(places.kept(waits).hasElement().block(Databases.LIMIT)).isTrue();
        get(Flux.just(waits, held).concatMap(backend::release).then());
        get(backend.close());
    }

    private static void areKeptTogether(
            Databases database, Tapped tapped, Fairness fairness, List<Claim> held, Flux<Boolean> releases) {
        R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT);
        LockClient waiting = LockClient.builder(backend)
                .commandTimeout(Duration.ofSeconds(40))
                .options(LockOptions.defaults().withFairness(fairness).withLease(Duration.ofSeconds(15)))
                .build();
        assertThat(get(waiting.withLock("before", Mono.just(true)))).isTrue();
        if (backend.toString().contains("PostgreSQL")) { // or all would ask again when its notifications begin
            Databases.until("it hears", backend::hearsRecalls);
        }
        Mono<Long> served = Flux.fromIterable(held)
                .flatMap(claim -> waiting.withLock(claim.key(), Mono.just(true)), held.size())
                .count()
                .cache();
        Disposable waits = served.subscribe(all -> {}, error -> {});
        ConnectionPool looking = database.pool(1);
        String rows = " FROM reactive_lock_waiter";
        Pause.until("all wait", LONG_LIMIT, () -> Databases.select(looking, "SELECT count(*)" + rows) == held.size());
        tapped.statements().clear();

        for (int times = 0; times < 2; times++) {
            long last = Databases.select(looking, "SELECT max(alive_until)" + rows);
            Databases.until(
                    "each is kept anew", () -> Databases.select(looking, "SELECT min(alive_until)" + rows) > last);
        }

        assertThat(tapped.statements())
                .filteredOn(text -> text.contains("reactive_lock_waiter"))
                .hasSizeBetween(2, 150); // by themselves 600
        get(releases.then());
        assertThat(get(served)).isEqualTo(held.size());
        waits.dispose();
        Databases.dispose(looking);
        boolean unused = get(waiting.close().thenReturn(true));
    }

    @Test
    void aSessionOfPostgresPreparesNoStatementForEachNumberOfHolds() {
        Databases postgres = databases().get(0);
        ConnectionPool one = postgres.pool(1);
        R2dbcLockBackend backend = R2dbcLockBackend.using(one, Databases.PATIENT.withoutNotifications());
        R2dbcLockBackend other = postgres.backend();
        List<Claim> held = claims(40, 20);
        get(Flux.fromIterable(held).concatMap(backend::claim).then());
        useNumbersOf(held, backend, other, 1, 3);
        long before = Databases.select(one, "SELECT count(*) FROM pg_prepared_statements");

        useNumbersOf(held, backend, other, 4, 40);

        assertThat(Databases.select(one, "SELECT count(*) FROM pg_prepared_statements"))
                .isBetween(1L, before + 5);
        get(Flux.fromIterable(held).concatMap(backend::release).then());
        get(backend.close().then(other.close()));
        Databases.dispose(one);
    }

    /** Renews so many, looks closer at one that is not held, waits for so many, and cleans. */
    private static void useNumbersOf(
            List<Claim> held, R2dbcLockBackend backend, R2dbcLockBackend other, int from, int to) {
        for (int number = from; number <= to; number++) {
            List<Claim> some = held.subList(0, number);
            assertThat(get(backend.renew(some)).renewed()).hasSize(number);
            List<Claim> shares = held.subList(held.size() - Math.min(20, number), held.size());
            assertThat(get(backend.renew(shares)).renewed()).hasSize(shares.size());
            List<Claim> withOneLost = Stream.concat(some.stream(), Stream.of(claim("lost", 1, Share.WHOLE)))
                    .toList();
            assertThat(get(backend.renew(withOneLost)).lost()).hasSize(1);
            List<Claim> gone = IntStream.range(0, number)
                    .mapToObj(i -> new Claim(
                            "gone " + UUID.randomUUID(),
                            UUID.randomUUID().toString(),
                            "me",
                            Duration.ofMillis(1),
                            Claim.Mode.TRY))
                    .toList();
            get(Flux.fromIterable(gone).concatMap(other::claim).then());
            boolean unused = get(backend.clean(Duration.ofMillis(2)).thenReturn(true));
        }
    }
}
