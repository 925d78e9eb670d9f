package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.testservers.TcpProxy;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;

@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class AdvisoryLocksTest {

    private static final String HELD = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'";

    private static final R2dbcBackendOptions BRIEF =
            R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(6));

    private Databases postgres;
    private ConnectionPool pool;
    private AdvisoryLocks locks;

    @BeforeAll
    void start() {
        postgres = Databases.postgres();
        pool = postgres.pool(4);
        locks = AdvisoryLocks.using(pool, Databases.PATIENT);
    }

    @AfterAll
    void stop() {
        Databases.dispose(pool);
        postgres.close();
    }

    @Test
    void aLockOfATransactionExcludesUntilItsEnd() {
        String key = UUID.randomUUID().toString();
        Sinks.One<String> gate = Sinks.one();
        CompletableFuture<String> first =
                locks.tryWithLock(key, connection -> gate.asMono()).toFuture();
        Databases.until("it is held", () -> postgres.select(HELD) == 1);

        assertThat(locks.tryWithLock(key, connection -> Mono.just("second")).blockOptional(Databases.LIMIT))
                .isEmpty();
        assertThat(locks.tryWithSessionLock(key, Mono.just("third")).blockOptional(Databases.LIMIT))
                .isEmpty();
        gate.tryEmitValue("first").orThrow();

        assertThat(first.orTimeout(60, TimeUnit.SECONDS).join()).isEqualTo("first");
        assertThat(locks.tryWithLock(key, connection -> Mono.just("next")).block(Databases.LIMIT))
                .isEqualTo("next");
    }

    @Test
    void aLockOfASessionKeepsNoTransactionAndIsFreeAfterwards() {
        String key = UUID.randomUUID().toString();
        Sinks.One<String> gate = Sinks.one();
        CompletableFuture<String> first =
                locks.tryWithSessionLock(key, gate.asMono()).toFuture();
        Databases.until("it is held", () -> postgres.select(HELD) == 1);

        assertThat(postgres.select("SELECT count(*) FROM pg_stat_activity WHERE state = 'idle in transaction'"))
                .isZero();
        assertThat(locks.tryWithLock(key, connection -> Mono.just("second")).blockOptional(Databases.LIMIT))
                .isEmpty();
        gate.tryEmitValue("first").orThrow();

        assertThat(first.orTimeout(60, TimeUnit.SECONDS).join()).isEqualTo("first");
        assertThatThrownBy(() -> locks.tryWithSessionLock(key, Mono.error(new ArithmeticException("the work's own")))
                        .block(Databases.LIMIT))
                .hasMessageContaining("the work's own");
        locks.tryWithSessionLock(key, Mono.never()).subscribe().dispose();
        Databases.until("nothing is held", () -> postgres.select(HELD) == 0);
    }

    @Test
    void aHolderWhoseConnectionEndedLearnsItAtItsEnd() {
        String key = UUID.randomUUID().toString();
        Sinks.One<String> gate = Sinks.one();
        CompletableFuture<String> first =
                locks.tryWithSessionLock(key, gate.asMono()).toFuture();
        Databases.until("it is held", () -> postgres.select(HELD) == 1);
        postgres.execute("SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory'");
        Databases.until("it is lost", () -> postgres.select(HELD) == 0);

        gate.tryEmitValue("first").orThrow();

        assertThatThrownBy(() -> first.get(60, TimeUnit.SECONDS)).hasMessageContaining("was lost while its work ran");
    }

    @Test
    void aHolderWhoseConnectionIsSilentLearnsItAtItsEnd() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            ConnectionPool silent = postgres.through(proxy).pool(2);
            AdvisoryLocks brief = AdvisoryLocks.using(silent, BRIEF);
            Sinks.One<String> gate = Sinks.one();
            CompletableFuture<String> work =
                    brief.tryWithSessionLock("silent", gate.asMono()).toFuture();
            Databases.until("it is held", () -> postgres.select(HELD) == 1);

            proxy.freeze();
            gate.tryEmitValue("done").orThrow();

            assertThat(work)
                    .failsWithin(Databases.LIMIT)
                    .withThrowableThat()
                    .withMessageContaining("was lost while its work ran");
            proxy.cut();
            Databases.until("nothing is held", () -> postgres.select(HELD) == 0);
            Databases.dispose(silent);
        }
    }

    @Test
    void workIsCancelledWhenTheConnectionOfItsSessionLockFallsSilent() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            ConnectionPool silent = postgres.through(proxy).pool(2);
            AdvisoryLocks brief = AdvisoryLocks.using(silent, BRIEF);
            CompletableFuture<Object> work =
                    brief.tryWithSessionLock("silent", Mono.never()).toFuture();
            Databases.until("it is held", () -> postgres.select(HELD) == 1);

            proxy.freeze();

            assertThat(work)
                    .failsWithin(Databases.LIMIT)
                    .withThrowableThat()
                    .withMessageContaining("was lost while its work ran");
            proxy.cut();
            Databases.until("nothing is held", () -> postgres.select(HELD) == 0);
            Databases.dispose(silent);
        }
    }

    @Test
    void aQuestionThatIsNotAnsweredEndsInTime() {
        try (TcpProxy proxy = TcpProxy.to(postgres.port())) {
            ConnectionPool silent = postgres.through(proxy).pool(2);
            AdvisoryLocks brief = AdvisoryLocks.using(silent, BRIEF);
            var unused = Flux.range(0, 2)
                    .flatMap(i -> brief.tryWithLock("warm " + i, connection -> Mono.just(i)))
                    .blockLast(Databases.LIMIT);

            proxy.freeze();

            for (Mono<String> attempt : List.of(
                    brief.tryWithSessionLock("unanswered", Mono.just("it ran")),
                    brief.tryWithLock("unanswered", connection -> Mono.just("it ran")))) {
                assertThat(attempt.toFuture())
                        .failsWithin(Databases.LIMIT)
                        .withThrowableThat()
                        .withCauseInstanceOf(TimeoutException.class);
            }
            proxy.cut();
            Databases.dispose(silent);
        }
    }

    @Test
    void theCallersTransactionHoldsItUntilItEnds() {
        String key = UUID.randomUUID().toString();
        Connection mine = Mono.from(postgres.factory().create()).block(Databases.LIMIT);
        assertThatThrownBy(() -> locks.tryLock(mine, key).block(Databases.LIMIT))
                .hasMessageContaining("begin a transaction");
        Mono.from(mine.beginTransaction()).block(Databases.LIMIT);

        assertThat(locks.tryLock(mine, key).block(Databases.LIMIT)).isTrue();
        assertThat(locks.tryWithLock(key, connection -> Mono.just("other")).blockOptional(Databases.LIMIT))
                .isEmpty();
        Mono.from(mine.rollbackTransaction()).block(Databases.LIMIT);

        assertThat(locks.tryWithLock(key, connection -> Mono.just("other")).block(Databases.LIMIT))
                .isEqualTo("other");
        Mono.from(mine.close()).block(Databases.LIMIT);
    }

    @Test
    void otherDatabasesAreRefused() {
        try (Databases h2 = Databases.h2()) {
            assertThatThrownBy(() -> AdvisoryLocks.using(h2.factory())).hasMessageContaining("RowLocks");
        }
    }
}
