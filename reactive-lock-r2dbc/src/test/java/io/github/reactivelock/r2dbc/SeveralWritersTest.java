package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.Loopback;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import io.r2dbc.spi.R2dbcPermissionDeniedException;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/** Databases whose servers all take writes, each of which would grant a lock. */
class SeveralWritersTest {

    private static final Path GALERA = Path.of("/usr/lib/galera/libgalera_smm.so");

    private final Logger logger = (Logger) LoggerFactory.getLogger(SeveralWriters.class);
    private final ListAppender<ILoggingEvent> logged = new ListAppender<>();

    @BeforeEach
    void listen() {
        logged.start();
        logger.addAppender(logged);
    }

    @AfterEach
    void stop() {
        logger.detachAppender(logged);
    }

    private static void assertLocks(Databases database) {
        assertLocks(database.backend());
    }

    private static void assertLocks(R2dbcLockBackend backend) {
        for (String key : List.of("one", "two")) {
            Claim claim = Databases.claim(key);
            assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(backend.release(claim).block(Databases.LIMIT)).isTrue();
        }
        backend.close().block(Databases.LIMIT);
    }

    private static String galera() {
        int port = Loopback.freePort();
        return "--wsrep-provider-options=base_port=" + port + ";gmcast.listen_addr=tcp://127.0.0.1:" + port;
    }

    @Test
    void aGaleraClusterIsWarnedAboutOnceABackendAndLocksAllTheSame() {
        assertThat(GALERA).as("comes with Debian's mariadb-server").exists();
        try (MariaDbServer server = MariaDbServer.start(
                "--wsrep-on=ON",
                "--wsrep-provider=" + GALERA,
                "--wsrep-new-cluster",
                "--wsrep-cluster-address=gcomm://",
                "--binlog-format=ROW",
                galera())) {
            for (String driver : List.of("mariadb", "mysql")) {
                Databases database = new Databases(server.url(driver), () -> {});
                if (!database.isMySqlDriver()) {
                    database.createTables();
                }
                logged.list.clear();

                assertLocks(database);

                assertThat(logged.list)
                        .as(driver)
                        .singleElement()
                        .extracting(ILoggingEvent::getFormattedMessage)
                        .asString()
                        .contains("wsrep_on=ON", "one lock", "same server");
            }
        }
    }

    @Test
    void aServerThatIsAloneIsNot() {
        try (MariaDbServer mariaDb = MariaDbServer.start();
                PostgresServer postgres = PostgresServer.start()) {
            for (String url : List.of(mariaDb.url("mariadb"), mariaDb.url("mysql"), postgres.url())) {
                Databases database = new Databases(url, () -> {});
                if (!database.isMySqlDriver()) {
                    database.createTables();
                }
                assertLocks(database);
            }
        }
        assertThat(logged.list).isEmpty();
    }

    private static void assertGoesOn(Databases database, R2dbcException failure, int times) {
        AtomicInteger left = new AtomicInteger(times);
        Predicate<String> asks = text -> text.startsWith("SHOW VARIABLES");
        Tapped tapped = Tapped.of(
                database.factory(),
                text -> asks.test(text) && left.getAndDecrement() > 0 ? Mono.error(failure) : Mono.empty());

        assertLocks(R2dbcLockBackend.connect(tapped, Databases.PATIENT.withoutNotifications()));

        assertThat(tapped.statements())
                .as("%s: %s", database, failure)
                .filteredOn(asks)
                .hasSize(Math.min(times + 1, 3));
    }

    @Test
    void aQuestionThatFailsCostsNoCommandAndIsAskedTwiceMoreAtMost() {
        try (MariaDbServer server = MariaDbServer.start()) {
            new Databases(server.url("mariadb"), () -> {}).createTables();
            for (String driver : List.of("mariadb", "mysql")) {
                Databases database = new Databases(server.url(driver), () -> {});
                for (int times : List.of(1, 100)) {
                    assertGoesOn(database, new R2dbcPermissionDeniedException("denied", "42000", 1142), times);
                    assertGoesOn(database, new R2dbcNonTransientResourceException("gone", "08000"), times);
                }
            }
        }
    }

    @Test
    void aQuestionThatIsGivenUpWithItsCommandIsAskedAgain() {
        try (Databases h2 = Databases.h2()) {
            Connection silent = Mono.from(
                            Tapped.of(h2.factory(), text -> Mono.never()).create())
                    .block(Databases.LIMIT);
            Sql sql = new Sql(Dialect.MARIADB, "reactive_lock");
            var asking = SeveralWriters.look(new SqlSession(silent, sql)).subscribe();
            assertThat(sql.isToBeAsked()).isFalse();

            asking.dispose();

            assertThat(sql.isToBeAsked()).isTrue();
            Mono.from(silent.close()).block(Databases.LIMIT);
        }
    }

    @Test
    void severalPrimariesOfGroupReplicationAreWarnedAboutAndOneIsNot() {
        SeveralWriters.judge(List.of("group_replication_single_primary_mode=ON", "wsrep_on=OFF"));
        assertThat(logged.list).isEmpty();

        SeveralWriters.judge(List.of("group_replication_single_primary_mode=OFF"));
        assertThat(logged.list).hasSize(1);
    }
}
