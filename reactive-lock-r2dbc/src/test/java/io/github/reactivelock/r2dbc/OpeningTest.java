package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testkit.ThreadLoaders;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.scheduler.VirtualTimeScheduler;

class OpeningTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final R2dbcBackendOptions PATIENT =
            R2dbcBackendOptions.defaults().withCommandTimeout(LIMIT);

    static final class Opener implements Function<String, LockBackend> {
        @Override
        public LockBackend apply(String url) {
            R2dbcLockBackend backend = R2dbcLockBackend.connect(ConnectionFactories.get(url), PATIENT);
            backend.createTables().block(LIMIT);
            return backend;
        }
    }

    @Test
    void theBackendSaysWhichDatabaseItIsWithoutASecret() {
        String url = "r2dbc:postgresql://user:secret@db.example:5433/shop";

        assertThat(R2dbcLockBackend.connect(url))
                .hasToString("PostgreSQL at db.example:5433, database shop, tables reactive_lock");
        assertThat(R2dbcLockBackend.connect("r2dbc:h2:mem:///shop"))
                .hasToString("H2, database shop, tables reactive_lock");
        assertThat(R2dbcLockBackend.using(ConnectionFactories.get(url)))
                .hasToString("PostgreSQL over the user's pool, tables reactive_lock");
    }

    @Test
    void noThreadInheritsAContextClassLoaderWithH2() {
        try (Databases h2 = Databases.h2()) {
            ThreadLoaders.assertOwn(Opener.class, h2.toString());
        }
    }

    @Test
    void noThreadInheritsAContextClassLoaderWithPostgres() {
        try (Databases postgres = Databases.postgres()) {
            ThreadLoaders.assertOwn(Opener.class, postgres.toString());
        }
    }

    @Test
    void noThreadInheritsAContextClassLoaderWithMariaDb() {
        try (Databases mariaDb = Databases.mariaDb("mariadb")) {
            ThreadLoaders.assertOwn(Opener.class, mariaDb.toString());
        }
    }

    @Test
    void aPoolThatFailsWhenItIsClosedFailsNobody() {
        try (Databases h2 = Databases.h2()) {
            ConnectionPool failing = new ConnectionPool(
                    ConnectionPoolConfiguration.builder(h2.factory()).build()) {
                @Override
                public Mono<Void> disposeLater() {
                    return super.disposeLater().then(Mono.error(new IllegalArgumentException("5/4")));
                }
            };
            Database database = Database.owning(failing, PATIENT);

            database.close().block(LIMIT);

            assertThat(failing.isDisposed()).isTrue();
        }
    }

    /**
     * How many statements are prepared at a MariaDB after a lock was taken and given back over a URL with this at its
     * end.
     */
    private static long prepared(Databases mariaDb, String end) {
        LockClient client = Databases.client(R2dbcLockBackend.connect(mariaDb + end, PATIENT));
        client.withLock("prepared" + end, Mono.empty()).then().block(LIMIT);
        long prepared = mariaDb.select(Databases.counted("PREPARED_STMT_COUNT"));
        client.close().block(LIMIT);
        return prepared;
    }

    @Test
    void aUrlOfMariaDbHasNothingPreparedUnlessItSaysSo() {
        try (Databases mariaDb = Databases.mariaDb("mariadb")) {
            mariaDb.createTables();

            assertThat(prepared(mariaDb, "")).isZero();
            assertThat(prepared(mariaDb, "?useServerPrepStmts=true")).isPositive();
        }
    }

    @Test
    void aDriversErrorIsReportedAtOnceAndTheNextUseOpensAnew() {
        assertTold(driver -> R2dbcLockBackend.connect(driver, PATIENT), () -> {
            throw new NoClassDefFoundError("a part of the driver");
        });
    }

    @Test
    void anErrorOfADriverThatIsSubscribedToIsTold() {
        assertTold(
                driver -> R2dbcLockBackend.connect(driver, PATIENT),
                () -> Mono.fromCallable(() -> {
                    throw new NoClassDefFoundError("a part of the driver");
                }));
    }

    @Test
    void anErrorOfAPoolOfTheApplicationIsTold() {
        assertTold(pool -> R2dbcLockBackend.using(pool, PATIENT), () -> {
            throw new NoClassDefFoundError("a part of the driver");
        });
    }

    private static ConnectionFactory opening(Databases database, Supplier<Mono<Void>> before) {
        ConnectionFactory real = database.factory();
        return new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return Mono.defer(before).then(Mono.defer(() -> Mono.from(real.create())));
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return real.getMetadata();
            }
        };
    }

    /** As a test of the application does. */
    @Test
    void virtualTimeEndsNoOpeningAndOurPoolSetsNoTimerInIt() {
        try (Databases h2 = Databases.h2()) {
            h2.createTables();
            AtomicInteger asked = new AtomicInteger();
            Sinks.Empty<Void> answer = Sinks.empty();
            VirtualTimeScheduler virtual = VirtualTimeScheduler.create();
            VirtualTimeScheduler.set(virtual);
            try {
                R2dbcLockBackend backend = R2dbcLockBackend.connect(
                        opening(h2, () -> answer.asMono().doOnSubscribe(s -> asked.incrementAndGet())), PATIENT);
                CompletableFuture<ClaimResult> claim =
                        backend.claim(Databases.claim("k")).toFuture();
                Databases.until("a connection is being opened", () -> asked.get() == 1);

                virtual.advanceTimeBy(Duration.ofHours(5));
                answer.tryEmitEmpty().orThrow();

                assertThat(claim).succeedsWithin(LIMIT).isInstanceOf(ClaimResult.Granted.class);
                assertThat(asked).hasValue(1);
                assertThat(virtual.getScheduledTaskCount()).isZero();
                backend.close().block(LIMIT);
            } finally {
                VirtualTimeScheduler.reset();
            }
        }
    }

    @Test
    void aSilentOpeningIsGivenUpAndLeavesItsPlaceInThePool() {
        try (Databases h2 = Databases.h2()) {
            h2.createTables();
            AtomicInteger asked = new AtomicInteger();
            AtomicInteger givenUp = new AtomicInteger();
            ConnectionFactory silent = opening(
                    h2,
                    () -> asked.getAndIncrement() == 0
                            ? Mono.<Void>never().doOnCancel(givenUp::incrementAndGet)
                            : Mono.empty());
            R2dbcLockBackend backend = R2dbcLockBackend.connect(
                    silent, R2dbcBackendOptions.defaults().withConnections(1));

            assertThat(backend.claim(Databases.claim("k")).toFuture())
                    .failsWithin(LIMIT)
                    .withThrowableOfType(ExecutionException.class)
                    .withMessageContaining("did not answer");

            assertThat(backend.claim(Databases.claim("k")).block(LIMIT)).isInstanceOf(ClaimResult.Granted.class);
            assertThat(givenUp).hasValue(1);
            backend.close().block(LIMIT);
        }
    }

    private static void assertTold(
            Function<ConnectionFactory, R2dbcLockBackend> opener, Supplier<Publisher<Connection>> failure) {
        ConnectionFactory h2 =
                ConnectionFactories.get("r2dbc:h2:mem:///" + UUID.randomUUID() + "?options=DB_CLOSE_DELAY=-1");
        AtomicBoolean works = new AtomicBoolean(true);
        R2dbcLockBackend backend = opener.apply(new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                return works.get() ? h2.create() : failure.get();
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return h2.getMetadata();
            }
        });
        R2dbcLockBackend tables = R2dbcLockBackend.connect(h2, PATIENT);
        tables.createTables().block(LIMIT);
        tables.close().block(LIMIT);
        LockClient client = LockClient.builder(backend)
                .commandTimeout(Duration.ofMinutes(5))
                .build();
        works.set(false);

        assertThat(client.acquire("k")
                        .map(held -> new Throwable("no error"))
                        .onErrorResume(Mono::just)
                        .block(LIMIT))
                .isInstanceOf(LockUnavailableException.class)
                .hasStackTraceContaining("NoClassDefFoundError: a part of the driver")
                .hasRootCauseInstanceOf(NoClassDefFoundError.class);
        works.set(true);
        client.acquire("k").flatMap(held -> held.release()).block(LIMIT);
        client.close().block(LIMIT);
    }
}
