package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.state.Share;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcException;
import io.r2dbc.spi.R2dbcRollbackException;
import io.r2dbc.spi.Wrapped;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What becomes of the connections of work that fails, of a server that ended them, and of the first one. */
class GivenBackTest extends EachDatabase {

    private static final Duration DAY = Duration.ofDays(1);
    private static final int SIZE = 3;

    /** Counts the connections that are opened; each may take its time. */
    private record Counting(ConnectionFactory real, AtomicInteger opened, Mono<?> before) implements ConnectionFactory {

        Counting(ConnectionFactory real) {
            this(real, new AtomicInteger(), Mono.empty());
        }

        @Override
        public Publisher<? extends Connection> create() {
            return before.then(Mono.from(real.create())).doOnNext(made -> opened.incrementAndGet());
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return real.getMetadata();
        }
    }

    /** Counts the connections that are open. */
    private record Open(ConnectionFactory real, AtomicInteger number) implements ConnectionFactory {

        @Override
        public Publisher<? extends Connection> create() {
            return Mono.from(real.create()).map(this::counted);
        }

        private Connection counted(Connection made) {
            number.incrementAndGet();
            AtomicBoolean open = new AtomicBoolean(true);
            Mono<Void> closed = Mono.defer(() -> Mono.from(made.close())).doOnTerminate(() -> {
                if (open.compareAndSet(true, false)) {
                    number.decrementAndGet();
                }
            });
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(),
                    new Class<?>[] {Connection.class, Wrapped.class},
                    (proxy, method, arguments) -> switch (method.getName()) {
                        case "unwrap" -> arguments == null || ((Class<?>) arguments[0]).isInstance(made) ? made : null;
                        case "close" -> closed;
                        default -> method.invoke(made, arguments);
                    });
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return real.getMetadata();
        }
    }

    private static ConnectionPool pool(ConnectionFactory factory, int size) {
        return new ConnectionPool(ConnectionPoolConfiguration.builder(factory)
                .initialSize(0)
                .maxSize(size)
                .allocatorSubscribeOn(Schedulers.boundedElastic())
                .build());
    }

    /** Each way in which this library runs work of a user over connections of the application. */
    private static Map<String, Function<Mono<String>, Mono<String>>> entries(
            ConnectionFactory pool, R2dbcBackendOptions options) {
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, options);
        R2dbcFencingGuard guard = R2dbcLockBackend.using(pool, options).fencingGuard();
        Once once = Once.using(pool, options);
        Map<String, Function<Mono<String>, Mono<String>>> entries = new LinkedHashMap<>();
        entries.put("withRowLock", work -> rows.withRowLock("k", connection -> work));
        entries.put("guard", work -> guard.write("k", 5, connection -> work));
        entries.put("Once", work -> once.run(UUID.randomUUID().toString(), DAY, work));
        if (pool.getMetadata().getName().contains("PostgreSQL")) {
            AdvisoryLocks advisory = AdvisoryLocks.using(pool, options);
            entries.put("tryWithLock", work -> advisory.tryWithLock("k", connection -> work));
            entries.put("tryWithSessionLock", work -> advisory.tryWithSessionLock("k", work));
        }
        return entries;
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workThatFailsCostsNoConnection(Databases database) {
        Counting counting = new Counting(database.factory());
        ConnectionPool pool = pool(counting, 1);
        for (Throwable failure : List.of(new ArithmeticException("no money"), new TimeoutException("the partner"))) {
            entries(pool, Databases.PATIENT).forEach((name, entry) -> {
                for (int i = 0; i < 5; i++) {
                    assertThat(entry.apply(Mono.error(failure))
                                    .map(value -> new Throwable("none"))
                                    .onErrorResume(Mono::just)
                                    .block(Databases.LIMIT))
                            .as(name)
                            .isSameAs(failure);
                }
                assertThat(entry.apply(Mono.just("next")).block(Databases.LIMIT))
                        .as(name)
                        .isEqualTo("next");
            });
        }

        assertThat(counting.opened()).hasValue(1);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aStaleTokenCostsNoConnection(Databases database) {
        Counting counting = new Counting(database.factory());
        ConnectionPool pool = pool(counting, 1);
        R2dbcFencingGuard guard =
                R2dbcLockBackend.using(pool, Databases.PATIENT).fencingGuard();
        String resource = UUID.randomUUID().toString();
        assertThat(guard.write(resource, 9, connection -> Mono.just(1)).block(Databases.LIMIT))
                .isEqualTo(1);

        for (int i = 0; i < 5; i++) {
            assertThatThrownBy(() ->
                            guard.write(resource, 5, connection -> Mono.just(1)).block(Databases.LIMIT))
                    .hasMessageContaining(resource);
        }

        assertThat(counting.opened()).hasValue(1);
        Databases.dispose(pool);
    }

    /**
     * The work of the first fails while a statement of it is under way, so what the second is told may be the first
     * one's.
     */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void whoHasTheConnectionOfFailedWorkNextIsToldItsOwnAnswers(Databases database) {
        ConnectionPool pool = pool(database.factory(), 1);
        RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);
        for (long i = 1; i <= 50; i++) {
            long wrong = -i;
            Mono<Long> failing = rows.withRowLock(
                    "k",
                    connection -> Databases.number(connection, "SELECT " + wrong)
                            .zipWith(Mono.<Long>error(new ArithmeticException("beside it")))
                            .map(both -> both.getT1()));
            assertThatThrownBy(() -> failing.block(Databases.LIMIT)).isInstanceOf(ArithmeticException.class);

            assertThat(rows.withRowLock("k", connection -> Databases.number(connection, "SELECT 7"))
                            .block(Databases.LIMIT))
                    .isEqualTo(7);
        }
        Databases.dispose(pool);
    }

    /** Its first connection refuses one statement because of a conflict, and never rolls back. */
    private static Tapped notRolledBack(ConnectionFactory real, String part) {
        AtomicInteger opened = new AtomicInteger();
        AtomicBoolean refused = new AtomicBoolean();
        return new Tapped(
                real,
                new ConcurrentLinkedQueue<>(),
                opened,
                text -> (text.contains(part) && refused.compareAndSet(false, true))
                                || (text.equals("ROLLBACK") && opened.get() == 1)
                        ? Mono.error(new R2dbcRollbackException("refused: " + text, "40001"))
                        : Mono.empty());
    }

    private static Stream<Databases> withBothDrivers(List<Databases> databases) {
        return Stream.concat(
                databases.stream(),
                databases.stream()
                        .filter(database -> database.url().startsWith("r2dbc:mariadb:"))
                        .map(Databases::byMySqlDriver));
    }

    /** The transaction would be open still, and what it began be committed with what the next user does. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aConnectionThatCouldNotBeRolledBackIsNotLentAgain(Databases one) {
        withBothDrivers(List.of(one)).forEach(database -> {
            for (boolean isOurs : List.of(true, false)) {
                String key = UUID.randomUUID().toString();
                Tapped tapped = notRolledBack(database.factory(), "INTO reactive_lock_waiter");
                ConnectionPool pool = pool(tapped, 1);
                R2dbcBackendOptions options =
                        Databases.PATIENT.withoutNotifications().withConnections(1);
                R2dbcLockBackend backend =
                        isOurs ? R2dbcLockBackend.connect(tapped, options) : R2dbcLockBackend.using(pool, options);
                R2dbcLockBackend other = database.backend();
                Claim owner = Databases.claim(key);
                Claim reader = new Claim(
                        key,
                        UUID.randomUUID().toString(),
                        "reader",
                        Duration.ofSeconds(60),
                        Claim.Mode.QUEUE,
                        Claim.Keeping.RENEWED,
                        Share.ONE);
                assertThat(other.claim(owner).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);

                assertThat(backend.claim(reader).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);

                assertThat(tapped.opened()).as(database + ", " + isOurs).hasValue(2);
                assertThat(database.select(
                                "SELECT max(place) FROM reactive_lock_waiter WHERE claim_id = '" + reader.id() + "'"))
                        .as("the place that was given before the failure is not kept")
                        .isEqualTo(1);
                assertThat(other.release(owner).block(Databases.LIMIT)).isTrue();
                assertThat(backend.release(reader).block(Databases.LIMIT)).isTrue();
                backend.close().then(other.close()).block(Databases.LIMIT);
                Databases.dispose(pool);
            }
        });
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aRowLockWhoseConnectionWasNotRolledBackGoesOnOverAnother(Databases one) {
        withBothDrivers(List.of(one)).forEach(database -> {
            Tapped tapped = notRolledBack(database.factory(), "INTO reactive_lock_row");
            ConnectionPool pool = pool(tapped, 1);
            AtomicInteger ran = new AtomicInteger();

            assertThat(RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT)
                            .withRowLock("k", Mono.fromSupplier(ran::incrementAndGet))
                            .block(Databases.LIMIT))
                    .isEqualTo(1);

            assertThat(tapped.opened()).as(database.toString()).hasValue(2);
            Databases.dispose(pool);
        });
    }

    private static void endAllSessions(Databases database) {
        if (database.url().contains("postgresql")) {
            Databases.select(
                    database.factory(),
                    "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                            + " AND backend_type = 'client backend'");
        } else {
            assertThat(database.killAll()).isPositive();
        }
    }

    private static void openAll(ConnectionPool pool) {
        List<Connection> open = new ArrayList<>();
        for (int i = 0; i < SIZE; i++) {
            open.add(pool.create().block(Databases.LIMIT));
        }
        Flux.fromIterable(open).concatMap(Connection::close).then().block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void afterTheServerEndedItsConnectionsTheFirstCallWorks(Databases database) {
        if (database.url().contains(":h2:")) {
            return; // lives in this process
        }
        for (String validation : new String[] {"", "SELECT 1"}) {
            ConnectionPoolConfiguration.Builder settings = ConnectionPoolConfiguration.builder(database.factory())
                    .initialSize(0)
                    .maxSize(SIZE);
            ConnectionPool pool = new ConnectionPool(
                    validation.isEmpty()
                            ? settings.build()
                            : settings.validationQuery(validation).build());
            AtomicInteger ran = new AtomicInteger();
            entries(pool, Databases.PATIENT).forEach((name, entry) -> {
                openAll(pool);
                endAllSessions(database);
                ran.set(0);

                assertThat(entry.apply(Mono.fromSupplier(() -> "run " + ran.incrementAndGet()))
                                .block(Databases.LIMIT))
                        .as(name)
                        .isEqualTo("run 1");
            });
            Databases.dispose(pool);
        }
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void workIsCancelledWhenPostgresEndsTheConnectionOfItsLock(Databases database) {
        if (!database.url().contains("postgresql")) {
            return;
        }
        ConnectionPool pool = pool(database.factory(), SIZE);
        Map<String, Function<Mono<String>, Mono<String>>> entries = entries(pool, Databases.PATIENT);
        for (String name : List.of("withRowLock", "tryWithLock", "tryWithSessionLock")) {
            AtomicBoolean works = new AtomicBoolean();
            AtomicBoolean cancelled = new AtomicBoolean();
            CompletableFuture<String> work = entries.get(name)
                    .apply(Mono.<String>never()
                            .doOnSubscribe(begun -> works.set(true))
                            .doOnCancel(() -> cancelled.set(true)))
                    .toFuture();
            Databases.until("it works", works::get);

            endAllSessions(database);

            assertThat(work)
                    .as(name)
                    .failsWithin(Databases.LIMIT)
                    .withThrowableOfType(java.util.concurrent.ExecutionException.class)
                    .withMessageContaining("lost while its work ran");
            Databases.until(name + " is cancelled", cancelled::get);
        }
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void theFirstConnectionMayTakeLongerThanACommand(Databases database) {
        R2dbcBackendOptions brief = R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(1));
        Mono<Long> opening = Mono.delay(Duration.ofMillis(1_500));
        for (String name : entries(database.factory(), brief).keySet()) {
            isServed(name, () -> {
                ConnectionFactory slow = new Counting(database.factory(), new AtomicInteger(), opening.cache());
                return entries(slow, brief).get(name).apply(Mono.just("ran"));
            });
        }

        isServed("tables", () -> {
            R2dbcLockBackend backend = R2dbcLockBackend.connect(
                    new Counting(database.factory(), new AtomicInteger(), opening.cache()), brief);
            return backend.createTables()
                    .thenReturn("ran")
                    .flatMap(ran -> backend.close().thenReturn(ran));
        });
    }

    /** By a connection that is opened for it; on a machine that is too busy for its command more than one is needed. */
    private static void isServed(String what, Supplier<Mono<String>> attempt) {
        Databases.until(
                what,
                () -> attempt.get()
                        .map("ran"::equals)
                        .onErrorReturn(R2dbcException.class, false)
                        .onErrorReturn(R2dbcFailure.class, false)
                        .block(Databases.LIMIT));
    }

    private Stream<Databases> ofBothDrivers() {
        return withBothDrivers(databases());
    }

    /** A program may end with it, and its server counts connections that end without a word. */
    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("ofBothDrivers")
    void closingIsOverWhenEveryConnectionIsClosed(Databases database) {
        for (int i = 0; i < 10; i++) {
            Open open = new Open(database.factory(), new AtomicInteger());
            R2dbcLockBackend backend = R2dbcLockBackend.connect(open, Databases.PATIENT);
            AtomicBoolean looked = new AtomicBoolean();
            Disposable watch = backend.events("k").subscribe(event -> looked.set(true), error -> {});
            assertThat(backend.inspect("k").block(Databases.LIMIT)).isNotNull();
            // A connection that is just being opened is not waited for, and it may come later.
            Databases.until(
                    "it listens, and has looked",
                    () -> looked.get() && (backend.isPushed() || database.url().startsWith("r2dbc:h2:")));

            watch.dispose();
            backend.close().block(Databases.LIMIT);

            assertThat(open.number()).as("in round " + i).hasValue(0);
        }
    }
}
