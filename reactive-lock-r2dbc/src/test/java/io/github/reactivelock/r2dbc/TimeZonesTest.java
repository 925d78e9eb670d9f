package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.LockInfo;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.OffsetDateTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** A database's clock is one for all clients, in whatever time zones they, their sessions and the server are. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TimeZonesTest {

    private static final String EAST = "+13:00";
    private static final String WEST = "-11:30";
    private static final Pattern OTHER_CLOCKS = Pattern.compile("(?i)\\b(now\\s*\\(|current_time|current_date|localtime"
            + "|sysdate|curdate|curtime|clock_timestamp|statement_timestamp|transaction_timestamp|utc_time|utc_date"
            + "|getdate|systimestamp|datediff|timestampdiff|unix_timestamp|\\btimestamp\\b|\\bdatetime\\b)");

    private Databases postgres;
    private Databases mariaDb;
    private Databases mySqlDriver;
    private Databases h2;

    @BeforeAll
    void start() {
        postgres = Databases.postgres("-c", "timezone=Asia/Kolkata");
        mariaDb = Databases.mariaDb("mariadb", "--default-time-zone=+05:45");
        mySqlDriver = mariaDb.byMySqlDriver();
        h2 = Databases.h2();
        Stream.of(postgres, mariaDb, h2).forEach(Databases::createTables);
    }

    @AfterAll
    void stop() {
        Stream.of(postgres, mariaDb, h2).forEach(Databases::close);
    }

    Stream<Databases> databases() {
        return Stream.of(postgres, mariaDb, mySqlDriver, h2);
    }

    private static Claim claim(String key) {
        return new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofSeconds(60), Claim.Mode.TRY);
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void whatAClientHoldsIsHeldForOneOfAnotherTimeZone(Databases database) {
        for (List<String> zones : List.of(List.of(EAST, WEST), List.of(WEST, EAST))) {
            R2dbcLockBackend holding = database.backendIn(zones.get(0));
            R2dbcLockBackend other = database.backendIn(zones.get(1));
            String key = "zones " + UUID.randomUUID();
            Claim held = claim(key);
            assertThat(get(holding.claim(held))).isInstanceOf(ClaimResult.Granted.class);

            assertThat(get(other.claim(claim(key)))).isInstanceOf(ClaimResult.Busy.class);
            get(other.clean(Duration.ofHours(1)));
            LockInfo.Held seen = get(other.inspect(key)).held().orElseThrow();
            assertThat(seen.remaining()).isBetween(Duration.ofSeconds(1), Duration.ofSeconds(60));
            assertThat(seen.age()).isBetween(Duration.ZERO, Databases.LIMIT);
            assertThat(get(holding.release(held))).isTrue();
            get(holding.close().then(other.close()));
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aLeaseThatEndedIsOverForClientsOfAllTimeZones(Databases database) {
        for (List<String> zones : List.of(List.of(EAST, WEST), List.of(WEST, EAST))) {
            R2dbcLockBackend died = database.backendIn(zones.get(0));
            R2dbcLockBackend other = database.backendIn(zones.get(1));
            String key = "dead " + UUID.randomUUID();
            Claim brief = new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofMillis(100), Claim.Mode.TRY);
            assertThat(get(died.claim(brief))).isInstanceOf(ClaimResult.Granted.class);

            Databases.until(
                    "it is free for the other", () -> get(other.claim(claim(key))) instanceof ClaimResult.Granted);
            get(died.close().then(other.close()));
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatIsDoneOnceIsDoneForClientsOfAllTimeZones(Databases database) {
        for (List<String> zones : List.of(List.of(EAST, WEST), List.of(WEST, EAST))) {
            AtomicInteger runs = new AtomicInteger();
            String key = "once " + UUID.randomUUID();
            for (String zone : zones) {
                Once once = Once.using(database.factoryIn(zone));
                Object unused = get(once.run(key, Duration.ofMinutes(10), Mono.fromCallable(runs::incrementAndGet)));
            }
            assertThat(runs).hasValue(1);
        }
    }

    /** The hour that a day repeats in New York, and the one that it skips. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void theClockCountsEachHourOfADayOnWhichClocksAreSet(Databases database) {
        for (String from : List.of("2026-11-01T01:30:00-04:00", "2026-03-08T01:30:00-05:00")) {
            OffsetDateTime start = OffsetDateTime.parse(from);
            for (int minutes = 0; minutes <= 180; minutes += 30) {
                OffsetDateTime then = start.plusMinutes(minutes);

                assertThat(clockAt(database, then))
                        .as("%s on %s", then, database)
                        .isEqualTo(ChronoUnit.MICROS.between(OffsetDateTime.parse("2020-01-01T00:00:00Z"), then));
            }
        }
    }

    /** What the dialect's clock shows at a moment, in a session of New York; MariaDB knows no names of zones here. */
    private static long clockAt(Databases database, OffsetDateTime then) {
        ConnectionFactory factory = database.factory();
        Dialect dialect = Dialect.of(factory);
        String zone = dialect == Dialect.MARIADB ? "SET time_zone = '-05:00'" : "SET TIME ZONE 'America/New_York'";
        String moment = switch (dialect) {
            case POSTGRESQL -> dialect.now.replace("clock_timestamp()", "timestamptz '" + then + "'");
            case MARIADB -> dialect.now;
            case H2 ->
                dialect.now.replace(
                        "CURRENT_TIMESTAMP(6)",
                        "CAST(TIMESTAMP WITH TIME ZONE '"
                                + then.format(DateTimeFormatter.ofPattern("yyyy-MM-dd HH:mm:ssxxx"))
                                + "' AT TIME ZONE 'America/New_York' AS TIMESTAMP(6) WITH TIME ZONE)");
        };
        String set = dialect == Dialect.MARIADB ? "SET timestamp = " + then.toEpochSecond() : "SELECT 1";
        return get(Mono.usingWhen(
                factory.create(),
                session ->
                        run(session, zone).then(run(session, set)).then(Databases.number(session, "SELECT " + moment)),
                Connection::close));
    }

    private static Mono<Void> run(Connection session, String statement) {
        return Flux.from(session.createStatement(statement).execute())
                .concatMap(result -> result.map((row, metadata) -> true))
                .then();
    }

    /** The time of a session, or a column of a type that has a zone or lacks one, would be read in each client's. */
    @Test
    void allExpressionsOfTimeAreTheDialects() {
        for (String file : List.of(
                "statements.sql",
                "schema-postgresql/V1__reactive_lock.sql",
                "schema-mariadb/V1__reactive_lock.sql",
                "schema-h2/V1__reactive_lock.sql")) {
            assertThat(text(file).lines().filter(line -> !line.startsWith("--")))
                    .as(file)
                    .noneMatch(line -> OTHER_CLOCKS.matcher(line).find());
        }
    }

    private static String text(String file) {
        try (var in = Sql.class.getResourceAsStream(file)) {
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
