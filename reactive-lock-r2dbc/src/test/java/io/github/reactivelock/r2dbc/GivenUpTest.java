package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.testservers.MariaDbServer;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import reactor.core.publisher.Mono;

/** Statements of MariaDB without a transaction around them, which meet a row that another transaction has locked. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class GivenUpTest {

    private static final R2dbcBackendOptions IMPATIENT =
            R2dbcBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(5));

    private Databases database;
    private R2dbcLockBackend backend;

    @BeforeAll
    void start() {
        MariaDbServer server = MariaDbServer.start("--innodb-lock-wait-timeout=600"); // longer than any test
        database = new Databases(server.url("mariadb"), server::close);
        database.createTables();
        backend = R2dbcLockBackend.connect(database.factory(), IMPATIENT);
    }

    @AfterAll
    void stop() {
        backend.close().block(Databases.LIMIT);
        database.close();
    }

    private static Claim claim(String key) {
        return new Claim(key, UUID.randomUUID().toString(), "me", Duration.ofSeconds(60), Claim.Mode.QUEUE);
    }

    private Connection holding(String rows) {
        Connection outsider = Mono.from(database.factory().create()).block(Databases.LIMIT);
        Mono.from(outsider.beginTransaction()).block(Databases.LIMIT);
        long unused = Databases.number(outsider, rows + " FOR UPDATE").block(Databases.LIMIT);
        return outsider;
    }

    private static void end(Connection outsider) {
        Mono.from(outsider.rollbackTransaction()).block(Databases.LIMIT);
        Mono.from(outsider.close()).block(Databases.LIMIT);
    }

    private void endsAtTheServer(Mono<?> command) {
        Throwable failure = command.map(answer -> new Throwable("answered " + answer))
                .onErrorResume(Mono::just)
                .block(Databases.LIMIT);
        assertThat(failure).hasMessageContaining("transaction");
        Databases.until(
                "it does not wait any more, though the row is locked",
                () -> database.select(Databases.MARIADB_WAITERS) == 0);
    }

    @Test
    void whatIsSaidOfAClaimThatWaitsDoesNotGoOnWaitingAtTheServer() {
        assertThat(backend.claim(claim("queue")).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        Claim waiting = claim("queue");
        assertThat(backend.claim(waiting).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        Connection stuck = holding("SELECT place FROM reactive_lock_waiter WHERE claim_id = '" + waiting.id() + "'");

        endsAtTheServer(backend.claim(waiting));
        endsAtTheServer(backend.release(waiting));

        end(stuck);
        assertThat(backend.release(waiting).block(Databases.LIMIT)).isFalse();
        assertThat(database.select("SELECT count(*) FROM reactive_lock_waiter")).isZero();
    }

    @Test
    void whatIsSaidOfAKeyThatIsTakenOnceDoesNotGoOnWaitingAtTheServer() {
        Once once = Once.using(database.factory(), IMPATIENT);
        Mono<String> work = once.run("key", Duration.ofMinutes(10), Mono.just("done"));
        assertThat(work.block(Databases.LIMIT)).isEqualTo("done");
        Connection stuck = holding("SELECT expires FROM reactive_lock_once WHERE once_key = 'key'");

        endsAtTheServer(work);

        end(stuck);
        assertThat(work.blockOptional(Databases.LIMIT)).isEmpty();
    }
}
