package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.state.LockInfo;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.R2dbcBadGrammarException;
import io.r2dbc.spi.R2dbcTransientResourceException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * What a command needs, in one statement of MariaDB or one text of several of MySQL: texts of users in it, and a
 * failure in its middle.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ScriptsTest {

    private static final List<String> ODD = List.of(
            "it's",
            "'); DROP TABLE reactive_lock; -- ",
            "\\",
            "\\'; DROP TABLE reactive_lock; -- ",
            "\"",
            "`",
            "?",
            ":name",
            "a;b",
            "\0",
            "\n",
            " ",
            "/*! , */",
            "x'27'",
            "${lock}",
            "%_#",
            "\u7e57' OR 1 = 1",
            "\ud83d\udd12 e\u0301 \u00e9");

    private static final R2dbcBackendOptions BRIEF =
            Databases.PATIENT.withCommandTimeout(Duration.ofSeconds(12)).withConnections(1);

    private Databases database;

    @BeforeAll
    void start() {
        database = Databases.mariaDb("mariadb");
        database.createTables();
    }

    @AfterAll
    void stop() {
        database.close();
    }

    @AfterEach
    void asBefore() {
        database.execute("SET GLOBAL sql_mode = DEFAULT");
    }

    /** That of MariaDB sends several statements as one text only if it is told to. */
    private List<Databases> drivers() {
        return List.of(
                database.byMySqlDriver(),
                database,
                new Databases(database.url() + "?allowMultiQueries=true", () -> {}));
    }

    private static R2dbcLockBackend connected(Databases driver) {
        return R2dbcLockBackend.connect(driver.url(), Databases.PATIENT);
    }

    /** Its id begins as the owner's name does, and is as long as the column at most. */
    private static Claim claim(String key, String owner) {
        String id = owner.substring(0, Math.min(owner.length(), 20)) + UUID.randomUUID();
        return new Claim(key, id, owner, Duration.ofSeconds(60), Claim.Mode.QUEUE);
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    private static LockInfo.Held held(R2dbcLockBackend backend, String key) {
        return get(backend.inspect(key)).held().orElseThrow();
    }

    record Mode(Databases driver, String sqlMode) {}

    Stream<Mode> modes() {
        return drivers().stream()
                .flatMap(driver -> Stream.of("", "NO_BACKSLASH_ESCAPES", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES", "ANSI")
                        .map(mode -> new Mode(driver, mode)));
    }

    @ParameterizedTest
    @MethodSource("modes")
    void noTextOfAUserIsReadAsSql(Mode mode) {
        database.execute("SET GLOBAL sql_mode = '" + mode.sqlMode() + "'");
        R2dbcLockBackend one = connected(mode.driver());
        R2dbcLockBackend other = connected(mode.driver());
        Set<String> told = ConcurrentHashMap.newKeySet();
        var listening =
                other.signals().ofType(Signal.Grant.class).subscribe(grant -> told.add(grant.claimId()), error -> {});
        List<Claim> first = ODD.stream().map(text -> claim(text, text)).toList();
        List<Claim> next = ODD.stream().map(text -> claim(text, "2" + text)).toList();

        for (Claim claim : first) {
            assertThat(get(one.claim(claim))).isInstanceOf(ClaimResult.Granted.class);
        }
        for (Claim claim : next) {
            assertThat(get(other.claim(claim))).isInstanceOf(ClaimResult.Queued.class);
            assertThat(get(other.claim(claim))).as("it asks again").isInstanceOf(ClaimResult.Queued.class);
        }
        for (Claim claim : first) {
            assertThat(held(one, claim.key()).owner()).isEqualTo(claim.owner());
            assertThat(get(one.release(claim))).isTrue();
        }
        for (Claim claim : next) {
            assertThat(held(one, claim.key()).owner()).isEqualTo(claim.owner());
            Databases.until("it is told of its grant", () -> told.contains(claim.id()));
            assertThat(get(other.release(claim))).isTrue();
        }
        listening.dispose();
        get(one.close().then(other.close()));
    }

    /** Of a hand-over that cannot delete the row of who is next. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void whatFailsInItsMiddleChangesNothing(Databases driver) {
        R2dbcLockBackend brief = R2dbcLockBackend.connect(driver.url(), BRIEF);

        failsInItsMiddle(brief, connected(driver));
    }

    private void failsInItsMiddle(R2dbcLockBackend brief, R2dbcLockBackend patient) {
        String key = UUID.randomUUID().toString();
        Claim owner = claim(key, "owner");
        Claim waiter = claim(key, "waiter");
        assertThat(get(brief.claim(owner))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(get(patient.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);
        Connection outsider = get(Mono.from(database.factory().create()));
        Mono.from(outsider.beginTransaction()).block(Databases.LIMIT);
        long locked = get(Databases.number(
                outsider, "SELECT place FROM reactive_lock_waiter WHERE claim_id = '" + waiter.id() + "' FOR UPDATE"));

        Throwable failure = get(brief.release(owner)
                .map(owned -> new Throwable("answered " + owned))
                .onErrorResume(Mono::just));

        assertThat(locked).isEqualTo(1);
        assertThat(failure).hasMessageContaining("transaction");
        assertThat(held(patient, key).owner()).isEqualTo("owner");
        Databases.until(
                "no transaction but the outsider's is open",
                () -> database.select("SELECT count(*) FROM information_schema.innodb_trx WHERE trx_rows_locked > 0")
                        <= 1);
        assertThat(get(brief.inspect(key)).isHeldBy("owner"))
                .as("over the same pool")
                .isTrue();
        Mono.from(outsider.rollbackTransaction())
                .then(Mono.from(outsider.close()))
                .block(Databases.LIMIT);
        assertThat(get(brief.release(owner).retry(10))).isTrue();
        assertThat(held(patient, key).owner()).isEqualTo("waiter");
        assertThat(get(patient.release(waiter))).isTrue();
        get(brief.close().then(patient.close()));
    }

    /** Refuses what the first connection is told. */
    private static Tapped refusing(ConnectionFactory real, Predicate<String> wrong, Throwable refusal) {
        AtomicInteger opened = new AtomicInteger();
        return new Tapped(
                real,
                new ConcurrentLinkedQueue<>(),
                opened,
                text -> opened.get() == 1 && wrong.test(text) ? Mono.error(refusal) : Mono.empty());
    }

    /** Its transaction would be open until somebody uses the connection again, with the lock's row locked. */
    @Test
    @EnabledIfSystemProperty(named = "reactivelock.mysql.instead", matches = "true")
    void aConnectionWhoseScriptWasNotRolledBackIsClosed() {
        Databases driver = database.byMySqlDriver();
        Tapped tapped =
                refusing(driver.factory(), "ROLLBACK"::equals, new R2dbcTransientResourceException("no rollback"));

        failsInItsMiddle(R2dbcLockBackend.connect(tapped, BRIEF), connected(driver));

        assertThat(tapped.opened()).hasValue(2);
    }

    /** Of an application, whose sessions have limits of their own. */
    @Test
    @EnabledIfSystemProperty(named = "reactivelock.mysql.instead", matches = "true")
    void aSessionThatCouldNotBeSetBackIsClosed() {
        Map<String, Function<ConnectionPool, Mono<?>>> commands = Map.of(
                "release",
                        pool -> R2dbcLockBackend.using(pool, Databases.PATIENT)
                                .release(claim("none", "nobody"))
                                .filter(owned -> !owned),
                "withRowLock",
                        pool -> RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT)
                                .withRowLock("none", Mono.just("done")));
        for (Databases driver : List.of(database, database.byMySqlDriver())) {
            commands.forEach((name, command) -> {
                Tapped tapped = refusing(
                        driver.factory(),
                        text -> text.contains("= @reactive_lock_row") && !text.contains(";"),
                        new R2dbcBadGrammarException("it stays as it is"));
                ConnectionPool pool =
                        Databases.pool(Databases.beginningWith("SET innodb_lock_wait_timeout = 77", tapped), 1);

                assertThat(get(command.apply(pool).hasElement())).as(name).isTrue();

                assertThat(Databases.select(pool, "SELECT @@SESSION.innodb_lock_wait_timeout"))
                        .as(name)
                        .isEqualTo(77);
                assertThat(tapped.opened()).as(name).hasValue(2);
                Databases.dispose(pool);
            });
        }
    }

    /** A proxy in front of MySQL may refuse such texts, each in its own words, and lets single statements pass. */
    @ParameterizedTest
    @ValueSource(ints = {1064, 1148, 1235, 1295})
    @EnabledIfSystemProperty(named = "reactivelock.mysql.instead", matches = "true")
    void whereSuchTextsAreRefusedStatementsAreSentSinglyAndThatIsSaidOnce(int code) {
        ListAppender<ILoggingEvent> said = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger(Sql.class);
        logger.addAppender(said);
        said.start();
        Databases driver = database.byMySqlDriver();
        Tapped tapped = Tapped.of(
                driver.factory(),
                text -> text.contains(";") && text.contains("START TRANSACTION")
                        ? Mono.error(new R2dbcBadGrammarException("no text of several statements", "42000", code))
                        : Mono.empty());
        R2dbcLockBackend refused = R2dbcLockBackend.connect(tapped, Databases.PATIENT);
        R2dbcLockBackend other = connected(driver);
        List<Claim> crowd = IntStream.range(0, 8)
                .mapToObj(i -> claim(UUID.randomUUID().toString(), "one of many"))
                .toList();

        assertThat(get(Flux.fromIterable(crowd).flatMap(refused::claim).collectList()))
                .hasSize(8)
                .allSatisfy(answer -> assertThat(answer).isInstanceOf(ClaimResult.Granted.class));
        long asked = texts(tapped);
        String key = UUID.randomUUID().toString();
        Claim first = claim(key, "first");
        Claim second = claim(key, "second");
        Claim third = claim(key, "third");
        assertThat(get(refused.claim(first))).isInstanceOf(ClaimResult.Granted.class);
        assertThat(get(other.claim(second))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(get(refused.claim(third))).isInstanceOf(ClaimResult.Queued.class);
        assertThat(get(refused.claim(third))).as("it asks again").isInstanceOf(ClaimResult.Queued.class);
        assertThat(get(refused.release(first))).isTrue();
        assertThat(held(other, key).owner()).isEqualTo("second");
        assertThat(get(other.release(second))).isTrue();
        assertThat(held(other, key).owner()).isEqualTo("third");
        assertThat(get(refused.release(third))).isTrue();

        assertThat(texts(tapped)).as("it is not tried again").isEqualTo(asked).isBetween(1L, 8L);
        assertThat(said.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .singleElement()
                .asString()
                .contains("takes no text of several statements", "round trips");
        logger.detachAppender(said);
        get(refused.close().then(other.close()));
    }

    private static long texts(Tapped tapped) {
        return tapped.statements().stream().filter(text -> text.contains(";")).count();
    }

    /** Also where it commits by hand. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("drivers")
    void aSessionOfAnApplicationIsAsItWas(Databases driver) {
        for (String commits : List.of("autocommit = 1", "autocommit = 0")) {
            ConnectionPool pool = Databases.pool(
                    Databases.beginningWith("SET " + commits + ", innodb_lock_wait_timeout = 77", driver.factory()), 1);
            R2dbcLockBackend lent = R2dbcLockBackend.using(pool, Databases.PATIENT);
            R2dbcLockBackend other = connected(driver);
            String key = UUID.randomUUID().toString();
            Claim owner = claim(key, "owner");
            Claim waiter = claim(key, "waiter");
            Claim last = claim(key, "last");

            assertThat(get(lent.claim(owner))).isInstanceOf(ClaimResult.Granted.class);
            assertThat(get(other.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);
            assertThat(get(lent.release(owner))).isTrue();
            assertThat(get(lent.claim(last))).isInstanceOf(ClaimResult.Queued.class);
            assertThat(get(other.release(waiter))).isTrue();
            assertThat(held(other, key).owner()).isEqualTo("last");

            assertThat(Databases.select(pool, "SELECT @@SESSION.innodb_lock_wait_timeout"))
                    .isEqualTo(77);
            assertThat(Databases.select(pool, "SELECT @@SESSION.autocommit")).isEqualTo(commits.endsWith("1") ? 1 : 0);
            assertThat(get(lent.release(last))).isTrue();
            get(lent.close().then(other.close()));
            Databases.dispose(pool);
        }
    }
}
