package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.Signal;
import io.github.reactivelock.testservers.TcpProxy;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.UUID;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Connections that died without a word: nothing is closed, what is sent over them is lost, and new ones work. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class ForgottenTest {

    private static final int CONNECTIONS = 8;
    private static final R2dbcBackendOptions OPTIONS = R2dbcBackendOptions.defaults()
            .withCommandTimeout(Duration.ofSeconds(6))
            .withConnections(CONNECTIONS);

    private Databases postgres;
    private Databases mariaDb;

    @BeforeAll
    void start() {
        postgres = Databases.postgres();
        mariaDb = Databases.mariaDb("mariadb");
        Stream.of(postgres, mariaDb).forEach(Databases::createTables);
    }

    @AfterAll
    void stop() {
        Stream.of(postgres, mariaDb).forEach(Databases::close);
    }

    Stream<Databases> servers() {
        return Stream.of(postgres, mariaDb, mariaDb.byMySqlDriver());
    }

    private static <T> T get(Mono<T> answer) {
        return answer.block(Databases.LIMIT);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("servers")
    void aPoolWhoseConnectionsWereForgottenCostsOneCommandAtMost(Databases database) {
        afterOneCommandAllSucceed(
                database, way -> R2dbcLockBackend.connect(way.factory(), OPTIONS.withoutNotifications()));
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("servers")
    void aPoolOfTheApplicationThatWasForgottenCostsOneCommandAtMost(Databases database) {
        List<ConnectionPool> pools = new ArrayList<>();
        afterOneCommandAllSucceed(database, way -> {
            pools.add(new ConnectionPool(ConnectionPoolConfiguration.builder(way.factory())
                    .initialSize(CONNECTIONS)
                    .maxSize(CONNECTIONS)
                    .build()));
            assertThat(get(pools.get(0).warmup())).isEqualTo(CONNECTIONS);
            return R2dbcLockBackend.using(pools.get(0), OPTIONS.withoutNotifications());
        });
        pools.get(0).disposeLater().onErrorComplete().block(Databases.LIMIT);
    }

    private static void afterOneCommandAllSucceed(Databases database, Function<Databases, R2dbcLockBackend> opened) {
        try (TcpProxy proxy = TcpProxy.to(database.port())) {
            R2dbcLockBackend backend = opened.apply(database.through(proxy));
            Claim held = Databases.claim("held " + UUID.randomUUID());
            assertThat(get(backend.claim(held))).isInstanceOf(ClaimResult.Granted.class);
            List<Claim> warmUp = IntStream.range(0, CONNECTIONS * 3)
                    .mapToObj(i -> Databases.claim("warm up " + UUID.randomUUID()))
                    .toList();
            get(Flux.fromIterable(warmUp).flatMap(backend::claim).then());

            assertThat(proxy.forget()).isGreaterThan(CONNECTIONS / 3);
            Object unused = backend.claim(Databases.claim("first " + UUID.randomUUID()))
                    .cast(Object.class)
                    .onErrorResume(Mono::just)
                    .block(Databases.LIMIT);

            for (int i = 0; i < CONNECTIONS; i++) {
                assertThat(get(backend.claim(Databases.claim("next " + UUID.randomUUID()))))
                        .isInstanceOf(ClaimResult.Granted.class);
            }
            assertThat(get(backend.renew(List.of(held))).renewed()).containsExactly(held.id());
            get(backend.close());
        }
    }

    @Test
    void aWaiterWhoseNotificationsAreForgottenIsServed() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            R2dbcLockBackend far =
                    R2dbcLockBackend.connect(postgres.through(proxy).factory(), OPTIONS);
            R2dbcLockBackend near = postgres.backend();
            Queue<Signal> told = new ConcurrentLinkedQueue<>();
            var listening = far.signals().subscribe(told::add, error -> {});
            Databases.until("pushes arrive", () -> told.contains(new Signal.Reconnected()));
            Claim holder = Databases.claim("pushes");
            Claim waiter = Databases.claim("pushes");
            assertThat(get(near.claim(holder))).isInstanceOf(ClaimResult.Granted.class);
            assertThat(get(far.claim(waiter))).isInstanceOf(ClaimResult.Queued.class);

            assertThat(proxy.forget("LISTEN ")).isEqualTo(1);
            told.clear();
            assertThat(get(near.release(holder))).isTrue();

            Databases.until(
                    "it is told, though it does not ask",
                    () -> told.stream()
                            .anyMatch(signal -> signal instanceof Signal.Grant grant
                                    && grant.claimId().equals(waiter.id())));
            Databases.until("pushes arrive again", () -> told.contains(new Signal.Reconnected()));
            assertThat(get(far.release(waiter))).isTrue();
            listening.dispose();
            get(far.close().then(near.close()));
        }
    }
}
