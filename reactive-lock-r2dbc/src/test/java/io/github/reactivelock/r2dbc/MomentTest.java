package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.r2dbc.spi.Connection;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import reactor.core.publisher.Mono;

/**
 * What happens in the middle of one statement of PostgreSQL: to the clock, to the row, and to a row that is not there.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class MomentTest {

    private static final Duration LEASE = Duration.ofSeconds(60);

    private Databases database;
    private R2dbcLockBackend backend;

    @BeforeAll
    void start() {
        database = Databases.postgres();
        database.createTables();
    }

    @AfterEach
    void closeBackend() {
        backend.close().block(Databases.LIMIT);
    }

    @AfterAll
    void stop() {
        database.close();
    }

    private static Claim claim(String key) {
        return new Claim(key, UUID.randomUUID().toString(), "me", LEASE, Claim.Mode.QUEUE);
    }

    @Test
    void aLeaseThatEndsDuringAQuestionIsNotCalledAGrant() {
        database.execute("CREATE SCHEMA jumping");
        database.execute("CREATE SEQUENCE jumping.calls");
        database.execute("CREATE FUNCTION jumping.clock_timestamp() RETURNS timestamptz VOLATILE LANGUAGE sql AS $$"
                + " SELECT pg_catalog.clock_timestamp() + CASE WHEN nextval('jumping.calls') > 1000"
                + " THEN interval '90 seconds' ELSE interval '0' END $$");
        database.execute("ALTER DATABASE postgres SET search_path = jumping, pg_catalog, public");
        try {
            backend = database.backend();
            int jumps = 0;
            for (int calls = 1; calls <= 32; calls++) {
                String key = "jump " + calls;
                database.execute("SELECT setval('jumping.calls', 1)");
                Claim owner = claim(key);
                assertThat(backend.claim(owner).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
                assertThat(backend.claim(claim(key)).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);

                long asked = database.select("SELECT "
                        + Dialect.POSTGRESQL.now.replace("clock_timestamp()", "pg_catalog.clock_timestamp()"));
                database.execute("SELECT setval('jumping.calls', " + (1000 - calls) + ")");
                ClaimResult answer = backend.claim(owner).block(Databases.LIMIT);

                if (database.select("SELECT last_value FROM jumping.calls") > 1000) {
                    jumps++;
                }
                if (answer instanceof ClaimResult.Granted) { // then the question has started its lease anew
                    assertThat(database.select(
                                    "SELECT lease_end FROM reactive_lock WHERE claim_id = '" + owner.id() + "'"))
                            .as("end of the lease when it jumps at look %d at the clock", calls)
                            .isGreaterThanOrEqualTo(asked + TimeUnit.NANOSECONDS.toMicros(LEASE.toNanos()));
                }
            }
            assertThat(jumps)
                    .as(
                            "questions in whose middle the clock jumped; the last are over before, though others look at it too")
                    .isBetween(3, 31);
        } finally {
            database.execute("ALTER DATABASE postgres RESET search_path");
        }
    }

    @Test
    void aRowThatGoesDuringAQuestionIsAskedForAgain() {
        backend = database.backend();
        assertThat(backend.claim(claim("connected")).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        database.execute("CREATE SEQUENCE swallowed");
        database.execute("CREATE FUNCTION swallow() RETURNS trigger LANGUAGE plpgsql AS"
                + " $$ BEGIN IF nextval('swallowed') <= 2 THEN RETURN NULL; END IF; RETURN NEW; END $$");
        database.execute(
                "CREATE TRIGGER swallow BEFORE INSERT ON reactive_lock FOR EACH ROW EXECUTE FUNCTION swallow()");
        try {
            assertThat(backend.claim(claim("swallowed")).block(Databases.LIMIT))
                    .isInstanceOf(ClaimResult.Granted.class);
        } finally {
            database.execute("DROP TRIGGER swallow ON reactive_lock");
        }
    }

    @Test
    void aReleaseServesWaitersThoughItsRowWasWrittenMeanwhile() {
        backend = database.backend();
        Claim owner = claim("written");
        Claim next = claim("written");
        assertThat(backend.claim(owner).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Granted.class);
        assertThat(backend.claim(next).block(Databases.LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        Connection outsider = Mono.from(database.factory().create()).block(Databases.LIMIT);
        Mono.from(outsider.beginTransaction()).block(Databases.LIMIT);
        long unused = Mono.from(outsider.createStatement(
                                "UPDATE reactive_lock SET lease_end = lease_end + 1, places = places + 1"
                                        + " WHERE lock_key = convert_to('written', 'UTF8')")
                        .execute())
                .flatMap(result -> Mono.from(result.getRowsUpdated()))
                .block(Databases.LIMIT);
        Sql sql = new Sql(Dialect.POSTGRESQL, "reactive_lock", Databases.LIMIT);
        Connection own = Mono.from(database.factory().create()).block(Databases.LIMIT);
        CompletableFuture<Long> handed = new SqlSession(own, sql)
                .inOne("hand", row -> LockRow.number(row, "token"), KeyLayout.bytes("written"), owner.id(), "nobody")
                .defaultIfEmpty(-1L)
                .toFuture();
        Databases.until(
                "it waits for the row", () -> database.select("SELECT count(*) FROM pg_locks WHERE NOT granted") == 1);
        Mono.from(outsider.commitTransaction()).block(Databases.LIMIT);

        assertThat(handed).succeedsWithin(Databases.LIMIT).isNotEqualTo(-1L);
        assertThat(database.select("SELECT count(*) FROM reactive_lock WHERE claim_id = '" + next.id() + "'"))
                .isEqualTo(1);
        Mono.from(own.close()).then(Mono.from(outsider.close())).block(Databases.LIMIT);
    }
}
