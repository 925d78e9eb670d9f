package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Mono;
import reactor.core.publisher.MonoSink;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** Connections that commands wait for and do not want any more. */
class BorrowingTest {

    private static final R2dbcBackendOptions BRIEF =
            R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofMillis(200));

    private final ConnectionFactory h2 = ConnectionFactories.get("r2dbc:h2:mem:///" + UUID.randomUUID());

    private ConnectionPool poolOf(int most) {
        return new ConnectionPool(ConnectionPoolConfiguration.builder(h2)
                .initialSize(0)
                .maxSize(most)
                .build());
    }

    private static int standing(ConnectionPool pool) {
        return pool.getMetrics().orElseThrow().pendingAcquireSize();
    }

    private static Mono<Long> question(Database database) {
        return database.run(session -> session.one("clock", row -> LockRow.number(row, "now_is")));
    }

    @Test
    void aCommandThatIsGivenUpLeavesTheLineForConnections() {
        ConnectionPool pool = poolOf(1);
        Database database = Database.owning(pool, BRIEF);
        Connection taken = Mono.from(pool.create()).block(Databases.LIMIT);

        List<CompletableFuture<Long>> waiting = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            waiting.add(question(database).toFuture());
        }

        assertThat(waiting).allSatisfy(each -> assertThat(each).failsWithin(Databases.LIMIT));
        Databases.until("none stands there any more", () -> standing(pool) == 0);
        Mono.from(taken.close()).block(Databases.LIMIT);
        assertThat(question(database).retry(50).block(Databases.LIMIT)).isPositive(); // the first takes its time
        database.close().block(Databases.LIMIT);
    }

    @Test
    void aConnectionIsNotLostWhenItsCommandLeavesInThatMoment() {
        ConnectionPool pool = poolOf(1);
        Database database = Database.owning(pool, Databases.PATIENT);
        for (int i = 0; i < 500; i++) {
            Connection taken = Mono.from(pool.create()).block(Databases.LIMIT);
            var leaving = question(database).subscribe(now -> {}, error -> {});
            Databases.until("it stands in line", () -> standing(pool) == 1);
            CompletableFuture<Void> back =
                    Mono.from(taken.close()).subscribeOn(Schedulers.parallel()).toFuture();

            leaving.dispose();

            assertThat(back).succeedsWithin(Databases.LIMIT);
            Databases.until(
                    "it came back", () -> pool.getMetrics().orElseThrow().acquiredSize() == 0);
        }
        assertThat(question(database).block(Databases.LIMIT)).isPositive();
        database.close().block(Databases.LIMIT);
    }

    @Test
    void aForeignFactoryIsNotStoppedAndItsConnectionGoesBack() {
        Sinks.One<Boolean> opened = Sinks.one();
        AtomicInteger asked = new AtomicInteger();
        List<Connection> made = new CopyOnWriteArrayList<>();
        ConnectionFactory slow = new ConnectionFactory() {
            @Override
            public Publisher<? extends Connection> create() {
                asked.incrementAndGet();
                return opened.asMono().then(Mono.from(h2.create())).doOnNext(made::add);
            }

            @Override
            public ConnectionFactoryMetadata getMetadata() {
                return h2.getMetadata();
            }
        };
        Database database = new Database(slow, R2dbcBackendOptions.defaults());
        var leaving = question(database).subscribe(now -> {}, error -> {});
        Databases.until("a connection is asked for", () -> asked.get() == 1);

        leaving.dispose();
        opened.tryEmitValue(true).orThrow();

        Databases.until("it is opened", () -> made.size() == 1);
        Databases.until("and closed", () -> isClosed(made.get(0)));
        database.close().block(Databases.LIMIT);
    }

    /** Hands over a connection when it is told to. */
    private static final class Handing implements ConnectionFactory {
        private final AtomicInteger closed = new AtomicInteger();
        private @Nullable MonoSink<Connection> asked;

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.<Connection>create(sink -> asked = sink);
        }

        void hand() {
            Objects.requireNonNull(asked).success((Connection) Proxy.newProxyInstance(
                    Handing.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        if (method.getName().equals("close")) {
                            return Mono.fromRunnable(closed::incrementAndGet);
                        }
                        return method.getReturnType().equals(Publisher.class) ? Mono.never() : null;
                    }));
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return () -> "PostgreSQL";
        }
    }

    @Test
    void aConnectionIsNotLostWhenItsCallerLeavesInThatMoment() throws Exception {
        Handing factory = new Handing();
        AdvisoryLocks locks = AdvisoryLocks.using(factory);
        CyclicBarrier both = new CyclicBarrier(2);
        ExecutorService pool = Executors.newSingleThreadExecutor();
        for (int i = 1; i <= 20_000; i++) {
            var leaving = locks.tryWithLock("k", connection -> Mono.never()).subscribe(work -> {}, error -> {});
            Future<?> handed = pool.submit(() -> {
                both.await();
                factory.hand();
                return true;
            });

            both.await();
            leaving.dispose();

            assertThat(handed).succeedsWithin(Databases.LIMIT);
            int all = i;
            Databases.until("it was closed", () -> factory.closed.get() == all);
        }
        pool.shutdown();
    }

    private static boolean isClosed(Connection connection) {
        return Boolean.FALSE.equals(Mono.from(connection.validate(io.r2dbc.spi.ValidationDepth.LOCAL))
                .onErrorReturn(false)
                .block(Databases.LIMIT));
    }
}
