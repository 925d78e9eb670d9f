package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.LockBackendContract;
import io.r2dbc.pool.ConnectionPool;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.TestInstance;

/**
 * The contract on a database, with few connections, patient because the machine may be busy. The server and each client
 * are in time zones of their own.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class SqlContract extends LockBackendContract {

    private static final List<String> ZONES = List.of("+09:00", "-05:00", "+00:00", "+12:45");

    private final AtomicInteger clients = new AtomicInteger();
    private Databases database;
    private ConnectionPool lent;

    abstract Databases open();

    @BeforeAll
    void start() {
        database = open();
        database.createTables();
    }

    @AfterAll
    void stop() {
        if (lent != null) {
            Databases.dispose(lent);
        }
        database.close();
    }

    @Override
    protected LockBackend newBackend() {
        return database.backendIn(ZONES.get(clients.getAndIncrement() % ZONES.size()));
    }

    @Override
    protected Duration shortLease() {
        return Duration.ofSeconds(3);
    }

    @Override
    protected Optional<Lent> lent() {
        lent = database.pool(2);
        return Optional.of(new Lent(
                R2dbcLockBackend.using(lent, Databases.PATIENT), () -> Databases.select(lent, "SELECT 1") == 1));
    }

    @Override
    protected void assertStoreIsClean() {
        assertThat(database.select("SELECT count(*) FROM reactive_lock_waiter")).isZero();
        assertThat(database.select("SELECT count(*) FROM reactive_lock_share s JOIN reactive_lock l"
                        + " ON l.lock_key = s.lock_key WHERE s.lease_end > l.lease_end"))
                .as("shares that are not dead")
                .isZero();
        assertThat(database.select("SELECT count(*) FROM reactive_lock WHERE claim_id IS NOT NULL"))
                .isZero();
    }
}
