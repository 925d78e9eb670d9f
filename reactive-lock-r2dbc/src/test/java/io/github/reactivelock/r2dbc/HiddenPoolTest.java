package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.Wrapped;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;

/** Pools inside what an application puts around them: LISTEN takes a connection beside the pool, or none. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class HiddenPoolTest {

    /** A connection that listens is asked from time to time whether it lives, by the driver's own question. */
    private static final String LISTENING =
            "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'LISTEN%' OR query = 'SELECT 1'";

    private Databases postgres;

    @BeforeAll
    void start() {
        postgres = Databases.postgres();
        postgres.createTables();
    }

    @AfterAll
    void stop() {
        postgres.close();
    }

    /** As one of metrics that does not say what it wraps. */
    private record Hiding(ConnectionFactory inner) implements ConnectionFactory {
        @Override
        public Publisher<? extends Connection> create() {
            return inner.create();
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return inner.getMetadata();
        }
    }

    /** As one of tracing. */
    private record Showing(ConnectionFactory inner) implements ConnectionFactory, Wrapped<ConnectionFactory> {
        @Override
        public Publisher<? extends Connection> create() {
            return inner.create();
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return inner.getMetadata();
        }

        @Override
        public ConnectionFactory unwrap() {
            return inner;
        }
    }

    private static void assertGoesRound(ConnectionPool pool, LockClient holding, LockClient waiting) {
        CompletableFuture<String> served = holding.acquire("k")
                .flatMap(held -> {
                    CompletableFuture<String> next =
                            waiting.withLock("k", Mono.just("served")).toFuture();
                    return held.release().then(Mono.fromFuture(next));
                })
                .toFuture();
        assertThat(served).succeedsWithin(Databases.LIMIT).isEqualTo("served");
        Databases.until(
                "the application has its connection",
                () -> pool.getMetrics().orElseThrow().acquiredSize() == 0);
        assertThat(Mono.from(pool.create())
                        .flatMap(connection -> Mono.from(connection.close()).thenReturn(true))
                        .block(Databases.LIMIT))
                .isTrue();
    }

    @Test
    void aPoolOfOneInsideWrappersThatShowItIsListenedBeside() {
        ConnectionPool pool = postgres.pool(1);
        R2dbcLockBackend backend = R2dbcLockBackend.using(new Showing(new Showing(pool)), Databases.PATIENT);
        LockClient holding = Databases.client(backend);
        LockClient waiting = Databases.client(postgres.backend());

        assertGoesRound(pool, holding, waiting);

        Databases.until("both listen", () -> postgres.select(LISTENING) == 2);
        holding.close().then(waiting.close()).block(Databases.LIMIT);
        Databases.dispose(pool);
    }

    @Test
    void aPoolOfOneInsideAWrapperThatHidesItKeepsItsConnection() {
        ConnectionPool pool = postgres.pool(1);
        R2dbcLockBackend backend = R2dbcLockBackend.using(new Hiding(pool), Databases.PATIENT);
        LockClient holding = Databases.client(backend);
        LockClient waiting = Databases.client(R2dbcLockBackend.using(new Showing(new Hiding(pool)), Databases.PATIENT));

        for (int i = 0; i < 3; i++) {
            assertGoesRound(pool, holding, waiting);
        }

        Databases.until(
                "it says why it looks", () -> backend.whyNotPushed().orElse("").contains("does not show it"));
        holding.close().then(waiting.close()).block(Databases.LIMIT);
        Databases.dispose(pool);
    }
}
