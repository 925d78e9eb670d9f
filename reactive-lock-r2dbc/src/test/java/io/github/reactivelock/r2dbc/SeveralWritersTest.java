package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.MariaDbServer;
import io.github.reactivelock.testservers.PostgresServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

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
        R2dbcLockBackend backend = database.backend();
        for (String key : List.of("one", "two")) {
            Claim claim = Databases.claim(key);
            assertThat(backend.claim(claim).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(backend.release(claim).block(Databases.LIMIT)).isTrue();
        }
        backend.close().block(Databases.LIMIT);
    }

    private static String galera() throws IOException {
        try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            String port = Integer.toString(free.getLocalPort());
            return "--wsrep-provider-options=base_port=" + port + ";gmcast.listen_addr=tcp://127.0.0.1:" + port;
        }
    }

    @Test
    void aGaleraClusterIsWarnedAboutOnceABackendAndLocksAllTheSame() throws IOException {
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

    @Test
    void severalPrimariesOfGroupReplicationAreWarnedAboutAndOneIsNot() {
        SeveralWriters.judge(List.of("group_replication_single_primary_mode=ON", "wsrep_on=OFF"));
        assertThat(logged.list).isEmpty();

        SeveralWriters.judge(List.of("group_replication_single_primary_mode=OFF"));
        assertThat(logged.list).hasSize(1);
    }
}
