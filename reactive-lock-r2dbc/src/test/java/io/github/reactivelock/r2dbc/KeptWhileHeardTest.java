package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.PgBouncer;
import io.github.reactivelock.testservers.PostgresServer;
import io.github.reactivelock.testservers.TcpProxy;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Mono;

/** A lock is kept only while its client hears that others call it back. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class KeptWhileHeardTest {

    /** So long that neither a claim that asks again nor the end of its time gets it back. */
    private static final LockOptions KEPT =
            LockOptions.defaults().withLease(Duration.ofHours(10)).withRetention(Duration.ofHours(10));

    private PgBouncer pooler;
    private Databases postgres;
    private Databases mariaDb;

    @BeforeAll
    void start() {
        PostgresServer server = PostgresServer.start();
        pooler = PgBouncer.before(server);
        postgres = new Databases(server.url(), server::close);
        mariaDb = Databases.mariaDb("mysql");
        databases().forEach(Databases::createTables);
    }

    @AfterAll
    void stop() {
        pooler.close();
        databases().forEach(Databases::close);
    }

    private Stream<Databases> databases() {
        return Stream.of(postgres, mariaDb);
    }

    private static void use(LockClient client, String key) {
        assertThat(client.withLock(key, Mono.just(key)).block(Databases.LIMIT)).isEqualTo(key);
    }

    private static boolean isHeld(LockClient client, String key) {
        return client.inspect(key).block(Databases.LIMIT) instanceof LockInfo.Held;
    }

    @Test
    void behindAPoolerThatSwallowsNotificationsNothingIsKept() {
        R2dbcLockBackend deaf = R2dbcLockBackend.connect(
                ConnectionFactories.get(pooler.url() + "?preparedStatementCacheQueries=0"), Databases.PATIENT);
        LockClient keeping = Databases.client(deaf).with(KEPT);
        LockClient other = Databases.client(postgres.backend());
        use(keeping, "first");
        Databases.until(
                "it knows that nothing arrives", () -> deaf.whyNotPushed().isPresent());

        for (String key : new String[] {"first", "second", "third"}) {
            use(keeping, key);
            assertThat(isHeld(other, key)).isFalse();
        }

        keeping.close().then(other.close()).block(Databases.LIMIT);
    }

    /** The pool has its connections before; what listens is opened beside it, and breaks. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void whatIsKeptGoesBackWhenTheConnectionThatHearsBreaks(Databases database) {
        try (TcpProxy proxy = TcpProxy.to(database.port())) {
            AtomicReference<ConnectionFactory> target = new AtomicReference<>(database.factory());
            ConnectionPool pool = Databases.pool(Databases.leadingTo(target), 4, 4);
            assertThat(pool.warmup().block(Databases.LIMIT)).isEqualTo(4);
            target.set(database.through(proxy).factory());
            LockClient keeping = Databases.client(R2dbcLockBackend.using(pool, Databases.PATIENT))
                    .with(KEPT);
            LockClient other = Databases.client(database.backend());
            Databases.until("it is kept", () -> {
                use(keeping, "broken");
                return isHeld(other, "broken");
            });

            proxy.cut();

            use(other, "broken");
            use(keeping, "broken");
            assertThat(isHeld(other, "broken")).isFalse();
            keeping.close().then(other.close()).block(Databases.LIMIT);
            Databases.dispose(pool);
        }
    }
}
