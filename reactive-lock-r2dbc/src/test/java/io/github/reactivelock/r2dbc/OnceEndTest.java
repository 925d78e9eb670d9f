package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.r2dbc.spi.ConnectionFactoryMetadata;
import io.r2dbc.spi.R2dbcPermissionDeniedException;
import io.r2dbc.spi.Result;
import io.r2dbc.spi.Statement;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.core.scheduler.Schedulers;

/** What becomes of a key of {@code Once} when its work has ended. */
class OnceEndTest extends EachDatabase {

    private static final Duration LONG = Duration.ofHours(1);

    private record Changed(ConnectionFactory real, Mono<? extends Connection> connections)
            implements ConnectionFactory {
        @Override
        public Publisher<? extends Connection> create() {
            return connections;
        }

        @Override
        public ConnectionFactoryMetadata getMetadata() {
            return real.getMetadata();
        }
    }

    /** A connection whose first renewal stays on its way: what reaches the server later is handed to the test. */
    private static Connection losing(Connection real, Connection slow, AtomicReference<Statement> late) {
        return (Connection) Proxy.newProxyInstance(
                OnceEndTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    boolean isRenewal = method.getName().equals("createStatement")
                            && arguments[0].toString().contains(" SET expires")
                            && late.get() == null;
                    return isRenewal
                            ? lost(slow.createStatement((String) arguments[0]), late)
                            : method.invoke(real, arguments);
                });
    }

    private static Statement lost(Statement real, AtomicReference<Statement> late) {
        return (Statement) Proxy.newProxyInstance(
                OnceEndTest.class.getClassLoader(), new Class<?>[] {Statement.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("execute")) {
                        late.set(real);
                        return Flux.never();
                    }
                    Object unused = method.invoke(real, arguments);
                    return proxy;
                });
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aRenewalAfterTheOutcomeDoesNotShortenTheKeysTime(Databases database) {
        ConnectionPool pool = database.pool(3);
        Connection slow = Mono.from(database.factory().create()).block(Databases.LIMIT);
        AtomicReference<Statement> late = new AtomicReference<>();
        Once once = Once.using(
                        new Changed(pool, pool.create().map(connection -> losing(connection, slow, late))),
                        Databases.PATIENT)
                .withLease(Duration.ofSeconds(9));
        String key = UUID.randomUUID().toString();
        Sinks.One<String> done = Sinks.one();
        CompletableFuture<String> work = once.recorded(key, LONG, done.asMono()).toFuture();
        Databases.until("a renewal is on its way", () -> late.get() != null);

        done.tryEmitValue(key).orThrow();
        assertThat(work).succeedsWithin(Databases.LIMIT).isEqualTo(key);
        String keptUntil = "SELECT expires FROM reactive_lock_once WHERE outcome = '" + key + "'";
        long full = database.select(keptUntil);
        long unused = Flux.from(late.get().execute())
                .concatMap(Result::getRowsUpdated)
                .count()
                .subscribeOn(Schedulers.boundedElastic())
                .block(Databases.LIMIT);

        assertThat(full).isPositive();
        assertThat(database.select(keptUntil)).isEqualTo(full);
        Mono.from(slow.close()).block(Databases.LIMIT);
        Databases.dispose(pool);
    }

    /** A connection whose first taking of a key reaches the server, whatever its caller does, when the test says so. */
    private static Connection late(Connection real, Connection slow, AtomicReference<Runnable> arrives) {
        return (Connection) Proxy.newProxyInstance(
                OnceEndTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    boolean isTaking = method.getName().equals("createStatement")
                            && arguments[0].toString().matches("(?s).*(INSERT|MERGE) INTO reactive_lock_once.*")
                            && arrives.get() == null;
                    return isTaking
                            ? late(slow.createStatement((String) arguments[0]), arrives)
                            : method.invoke(real, arguments);
                });
    }

    private static Statement late(Statement real, AtomicReference<Runnable> arrives) {
        return (Statement) Proxy.newProxyInstance(
                OnceEndTest.class.getClassLoader(), new Class<?>[] {Statement.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("execute")) {
                        return Flux.<Result>create(sink -> arrives.set(() -> {
                            Result answer = answered(Flux.from(real.execute())
                                    .concatMap(Result::getRowsUpdated)
                                    .reduce(0L, (sum, rows) -> sum + ((Number) rows).longValue())
                                    .subscribeOn(Schedulers.boundedElastic())
                                    .block(Databases.LIMIT));
                            var unusedSink = sink.next(answer);
                            sink.complete();
                        }));
                    }
                    Object unused = method.invoke(real, arguments);
                    return proxy;
                });
    }

    private static Result answered(long rows) {
        return (Result) Proxy.newProxyInstance(
                OnceEndTest.class.getClassLoader(),
                new Class<?>[] {Result.class},
                (proxy, method, arguments) -> Mono.just(rows));
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aCallerWhoLeavesWhileTheKeyIsTakenBlocksNoKey(Databases database) {
        ConnectionPool pool = database.pool(3);
        Connection slow = Mono.from(database.factory().create()).block(Databases.LIMIT);
        AtomicReference<Runnable> arrives = new AtomicReference<>();
        Once once = Once.using(
                        new Changed(pool, pool.create().map(connection -> late(connection, slow, arrives))),
                        Databases.PATIENT)
                .withLease(LONG);
        String key = UUID.randomUUID().toString();
        var leaving = once.run(key, LONG, Mono.just("never")).subscribe();
        Databases.until("the key is about to be taken", () -> arrives.get() != null);

        leaving.dispose();
        // Another key is taken and freed, so whatever is asked at once has been asked.
        assertThat(once.run("not " + key, LONG, Mono.error(new ArithmeticException()))
                        .onErrorReturn("failed")
                        .block(Databases.LIMIT))
                .isEqualTo("failed");
        arrives.get().run();

        Databases.until(
                "the key is free again",
                () -> Objects.equals(once.run(key, LONG, Mono.just("it ran")).block(Databases.LIMIT), "it ran"));
        Mono.from(slow.close()).block(Databases.LIMIT);
        Databases.dispose(pool);
    }

    /** The connection's first look at a key comes when no key is there any more. */
    private static Connection emptied(Connection real, Connection other, AtomicInteger looks) {
        return (Connection) Proxy.newProxyInstance(
                OnceEndTest.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    Object answer = method.invoke(real, arguments);
                    boolean isLook = method.getName().equals("createStatement")
                            && arguments[0].toString().contains("SELECT run_id")
                            && looks.getAndIncrement() == 0;
                    return isLook ? emptied((Statement) answer, other) : answer;
                });
    }

    private static Statement emptied(Statement look, Connection other) {
        return (Statement) Proxy.newProxyInstance(
                OnceEndTest.class.getClassLoader(), new Class<?>[] {Statement.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("execute")) {
                        return Flux.from(other.createStatement("DELETE FROM reactive_lock_once")
                                        .execute())
                                .concatMap(Result::getRowsUpdated)
                                .thenMany(Flux.defer(look::execute));
                    }
                    Object unused = method.invoke(look, arguments);
                    return proxy;
                });
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyThatIsFreedBeforeItIsLookedAtIsAskedForAgain(Databases database) {
        ConnectionPool pool = database.pool(3);
        Connection other = Mono.from(database.factory().create()).block(Databases.LIMIT);
        AtomicInteger looks = new AtomicInteger();
        String key = UUID.randomUUID().toString();
        CompletableFuture<Void> inTheWay = new CompletableFuture<>();
        var running = Once.using(pool, Databases.PATIENT)
                .run(key, LONG, Mono.never().doOnSubscribe(begun -> inTheWay.complete(null)))
                .subscribe();
        inTheWay.orTimeout(Databases.LIMIT.toSeconds(), TimeUnit.SECONDS).join();
        Once once = Once.using(
                new Changed(pool, pool.create().map(connection -> emptied(connection, other, looks))),
                Databases.PATIENT);

        assertThat(once.run(key, LONG, Mono.just("it ran")).block(Databases.LIMIT))
                .isEqualTo("it ran");

        assertThat(looks).hasValue(2);
        running.dispose();
        Mono.from(other.close()).block(Databases.LIMIT);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aUserRefusedForAMomentDoesNotRunTheWorkAgain(Databases database) {
        ConnectionPool pool = database.pool(3);
        AtomicInteger refused = new AtomicInteger();
        Mono<Connection> connections = Mono.defer(() -> refused.getAndUpdate(left -> Math.max(0, left - 1)) > 0
                ? Mono.error(new R2dbcPermissionDeniedException("password was changed", "28P01"))
                : pool.create());
        Once once = Once.using(new Changed(pool, connections), Databases.PATIENT);
        String key = UUID.randomUUID().toString();

        assertThat(once.recorded(key, LONG, Mono.just(key).doOnNext(done -> refused.set(3)))
                        .block(Databases.LIMIT))
                .isEqualTo(key);

        assertThat(database.select("SELECT count(*) FROM reactive_lock_once WHERE outcome = '" + key + "'"))
                .isEqualTo(1);
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyMayStayTakenForEver(Databases database) {
        ConnectionPool pool = database.pool(2);
        Once once = Once.using(pool, Databases.PATIENT);
        String key = UUID.randomUUID().toString();

        assertThat(once.recorded(key, ChronoUnit.FOREVER.getDuration(), Mono.just("receipt"))
                        .block(Databases.LIMIT))
                .isEqualTo("receipt");

        assertThat(once.recorded(key, LONG, Mono.just("twice")).block(Databases.LIMIT))
                .isEqualTo("receipt");
        Databases.dispose(pool);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aKeyWithoutAUtf8FormIsRefusedAndIsNotAnothersKey(Databases database) {
        ConnectionPool pool = database.pool(2);

        assertThatThrownBy(() -> Once.using(pool).run("order \ud800", LONG, Mono.just("it")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("UTF-8");
        assertThatThrownBy(() -> RowLocks.using(pool, LONG).withRowLock("order \ud800", Mono.just("it")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("UTF-8");
        Databases.dispose(pool);
    }
}
