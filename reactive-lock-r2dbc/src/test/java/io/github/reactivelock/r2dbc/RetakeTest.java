package io.github.reactivelock.r2dbc;

import static io.github.reactivelock.r2dbc.Databases.LIMIT;
import static io.github.reactivelock.r2dbc.Databases.claim;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spi.Claim;
import io.github.reactivelock.spi.ClaimResult;
import io.github.reactivelock.spi.LockBackend;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A client takes a lock again that it had before. */
class RetakeTest extends EachDatabase {

    private static final long MINUTE = 60_000_000;

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

    List<Databases> retaking() {
        return databases().subList(0, 2);
    }

    /** A column without a value, so the database refuses each INSERT. */
    private static void refuseInserts(Databases database) {
        database.execute("ALTER TABLE reactive_lock ADD COLUMN missing INT NOT NULL DEFAULT 0");
        database.execute("ALTER TABLE reactive_lock ALTER COLUMN missing DROP DEFAULT");
    }

    private static void allowInserts(Databases database) {
        database.execute("ALTER TABLE reactive_lock DROP COLUMN missing");
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("retaking")
    void aLockThatThisClientHadIsTakenAgainWithoutAnInsert(Databases database) {
        R2dbcLockBackend ours = database.backend();
        String key = used(ours);
        Databases.until("it is taken without an insert", () -> isTakenWithoutAnInsert(database, ours, key));
        close(ours);
    }

    /**
     * Not so if a second goes by on the way of a question or an answer: the two clocks seem to have come apart then.
     */
    private static boolean isTakenWithoutAnInsert(Databases database, R2dbcLockBackend ours, String key) {
        assertThat(once(ours, key)).isPositive();
        long before = once(ours, key);
        Claim held = claim(key);
        refuseInserts(database);
        try {
            long token = token(ours, held);
            assertThat(token).isGreaterThan(before);
            assertThat(database.select("SELECT token FROM reactive_lock WHERE claim_id = '" + held.id() + "'"))
                    .isEqualTo(token);
            return true;
        } catch (R2dbcFailure refused) {
            return false;
        } finally {
            allowInserts(database);
        }
    }

    /** Gives a lock that is held another token. */
    private static long moved(Databases database, Claim held, long token) {
        assertThat(database.execute(
                        "UPDATE reactive_lock SET token = " + token + " WHERE claim_id = '" + held.id() + "'"))
                .isEqualTo(1);
        return token;
    }

    /** Gives a lock that is free a token of another time. */
    private static long leftWith(Databases database, R2dbcLockBackend backend, String key, long difference) {
        Claim held = claim(key);
        long token = moved(database, held, token(backend, held) + difference);
        assertThat(backend.release(held).block(LIMIT)).isTrue();
        return token;
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aTokenThatIsAheadOfTheClockIsFollowedByHigherOnes(Databases database) {
        R2dbcLockBackend ours = database.backend();
        String key = used(ours);
        long last = leftWith(database, ours, key, MINUTE);
        for (int i = 0; i < 5; i++) {
            long next = once(ours, key);
            assertThat(next).isGreaterThan(last);
            last = next;
        }
        close(ours);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aTokenThatIsAheadOfTheClockHasNoOtherLocksRunAhead(Databases database) {
        R2dbcLockBackend ours = database.backend();
        String key = used(ours);
        String other = used(ours);
        long ahead = leftWith(database, ours, key, MINUTE);
        for (int i = 0; i < 3; i++) {
            // The second tells this client what time it is.
            assertThat(once(ours, key)).isGreaterThan(ahead);
            assertThat(once(ours, key)).isGreaterThan(ahead);
            assertThat(once(ours, other)).isPositive().isLessThan(ahead);
        }
        close(ours);
    }

    @ParameterizedTest(autoCloseArguments = false)
    @MethodSource("databases")
    void aTokenIsItsGrantsTimeAlsoAfterAnOldOne(Databases database) {
        R2dbcLockBackend ours = database.backend();
        String other = used(ours);
        assertThat(leftWith(database, ours, other, -2 * MINUTE)).isPositive();
        Claim held = claim(used(ours));
        long now = token(ours, held);
        long old = moved(database, held, now - MINUTE);
        // The first finds that it is held; the second tells this client a time that is long past.
        assertThat(token(ours, held)).isEqualTo(old);
        assertThat(token(ours, held)).isEqualTo(old);
        assertThat(once(ours, other)).isGreaterThan(now);
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
