package io.github.reactivelock.r2dbc;

import static io.github.reactivelock.r2dbc.Databases.LIMIT;
import static io.github.reactivelock.r2dbc.Databases.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A client takes a lock again that it had before. */
class RetakeTest extends EachDatabase {

    private static long token(R2dbcLockBackend backend, Claim claim) {
        ClaimResult answer = backend.claim(claim).block(LIMIT);
        assertThat(answer).isInstanceOf(ClaimResult.Granted.class);
        return ((ClaimResult.Granted) answer).fencingToken() >> LockBackend.PASS_BITS;
    }

    /** Takes a lock and gives it back. */
    private static long once(R2dbcLockBackend backend, String key) {
        Claim claim = claim(key);
        long token = token(backend, claim);
        assertThat(backend.release(claim).block(LIMIT)).isTrue();
        return token;
    }

    /** A key that the clients have had, MariaDB's by a compound statement: its plain ones come only after that. */
    private static String used(R2dbcLockBackend... backends) {
        String key = UUID.randomUUID().toString();
        for (R2dbcLockBackend backend : backends) {
            assertThat(once(backend, key)).isPositive();
        }
        return key;
    }

    private static void close(R2dbcLockBackend... backends) {
        for (R2dbcLockBackend backend : backends) {
            backend.close().block(LIMIT);
        }
    }

    @Test
    void aLockThatThisClientHadIsTakenAgainWithoutAnInsertOnPostgres() {
        Databases postgres = databases().get(0);
        R2dbcLockBackend ours = postgres.backend();
        String key = used(ours);
        long before = once(ours, key);
        postgres.execute("CREATE FUNCTION refused() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN RAISE ''no''; END'");
        postgres.execute(
                "CREATE TRIGGER refused BEFORE INSERT ON reactive_lock FOR EACH ROW EXECUTE FUNCTION refused()");
        try {
            Claim held = claim(key);
            long token = token(ours, held);
            assertThat(token).isGreaterThan(before);
            assertThat(postgres.select("SELECT token FROM reactive_lock WHERE claim_id = '" + held.id() + "'"))
                    .isEqualTo(token);
        } finally {
            postgres.execute("DROP TRIGGER refused ON reactive_lock");
        }
        close(ours);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aLockThatAnotherHadMeanwhileHasAHigherTokenThanIts(Databases database) {
        R2dbcLockBackend ours = database.backend();
        R2dbcLockBackend theirs = database.backend();
        String key = used(ours, theirs);
        long last = once(ours, key);
        for (int i = 0; i < 20; i++) {
            long other = once(theirs, key);
            assertThat(other).isGreaterThan(last);
            last = once(ours, key);
            assertThat(last).isGreaterThan(other);
        }
        close(ours, theirs);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aLockThatAnotherHasNowIsWaitedFor(Databases database) {
        R2dbcLockBackend ours = database.backend();
        R2dbcLockBackend theirs = database.backend();
        String key = used(ours, theirs);
        assertThat(once(ours, key)).isPositive();
        Claim held = claim(key);
        assertThat(token(theirs, held)).isPositive();
        assertThat(ours.claim(claim(key)).block(LIMIT)).isInstanceOf(ClaimResult.Queued.class);
        close(ours, theirs);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aClaimThatAsksTwiceHasOneToken(Databases database) {
        R2dbcLockBackend ours = database.backend();
        String key = used(ours);
        assertThat(once(ours, key)).isPositive();
        Claim claim = claim(key);
        assertThat(token(ours, claim)).isEqualTo(token(ours, claim));
        close(ours);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aLockWhoseRowWasRemovedIsTakenAnew(Databases database) {
        R2dbcLockBackend ours = database.backend();
        String key = used(ours);
        long before = once(ours, key);
        assertThat(database.execute("DELETE FROM reactive_lock")).isPositive();
        assertThat(once(ours, key)).isGreaterThan(before);
        close(ours);
    }
}
