package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.r2dbc.spi.R2dbcBadGrammarException;
import io.r2dbc.spi.R2dbcNonTransientResourceException;
import java.net.ConnectException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** What errors of drivers mean that are no {@code R2dbcException}. */
class R2dbcFailureTest {

    @Test
    void aDisposedQueueOfTheMySqlDriverIsABrokenConnection() {
        IllegalStateException disposed = new IllegalStateException("Request queue was disposed");

        assertThat(R2dbcFailure.isBroken(disposed)).isTrue();
        assertThat(R2dbcFailure.leavesConnectionWhole(disposed)).isFalse();
        assertThat(R2dbcFailure.of(
                        disposed, new Sql(Dialect.MARIADB, "locks", Duration.ofSeconds(1)), Duration.ofSeconds(1)))
                .hasMessageContaining("is it up");
    }

    @Test
    void aRefusedConnectionThatTheDriverPassesOnIsPutIntoWords() {
        Throwable told = R2dbcFailure.of(
                new ConnectException("Connection refused: /127.0.0.1:1"),
                new Sql(Dialect.MARIADB, "locks", Duration.ofSeconds(1)),
                Duration.ofSeconds(1));

        assertThat(told).hasMessageContaining("is it up").hasMessageContaining("Connection refused: /127.0.0.1:1");
    }

    private static Throwable told(String state, int code) {
        return R2dbcFailure.of(
                new R2dbcNonTransientResourceException("no", state, code),
                new Sql(Dialect.MARIADB, "locks", Duration.ofSeconds(1)),
                Duration.ofSeconds(1));
    }

    /** MariaDB and MySQL by 1142, 1143 and 1227, H2 by 90096. */
    @Test
    void aMissingRightIsToldWithThoseThatAreNeeded() {
        for (int code : new int[] {1142, 1143, 1227, 90096}) {
            assertThat(told("42000", code))
                    .as("%s", code)
                    .hasMessageContaining("needs SELECT, INSERT, UPDATE and DELETE");
        }
    }

    /** An account that is locked, in MariaDB and in MySQL. */
    @Test
    void aLockedAccountIsARefusalThatLasts() {
        for (int code : new int[] {4151, 3118}) {
            assertThat(told("HY000", code)).as("%s", code).hasMessageContaining("does not let this user in");
        }
    }

    /** This library sets such a limit itself on MariaDB, and a row that is locked is what reaches it. */
    @Test
    void aStatementThatReachedItsLimitMayHaveWaitedForARow() {
        for (int code : new int[] {1317, 1969, 3024}) {
            assertThat(told("70100", code))
                    .as("%s", code)
                    .hasMessageContaining("whether a transaction holds the rows of locks");
        }
    }

    /** MySQL's driver gives each error that it does not know this type and no state: disk full, table full, … */
    @Test
    void aServersAnswerIsNoLostConnectionThoughItsStateIsThrownAway() {
        for (int code : new int[] {1020, 1021, 1030, 1114, 1129, 1130, 1194, 1206, 1665, 3572}) {
            R2dbcNonTransientResourceException answer = new R2dbcNonTransientResourceException("no", null, code);

            assertThat(R2dbcFailure.isBroken(answer)).as("%s", code).isFalse();
            assertThat(R2dbcFailure.passes(answer)).as("%s", code).isFalse();
        }
    }

    /** The last words of a server over a connection that it ends, and connections that end without a word. */
    @Test
    void aServersLastWordsAreALostConnection() {
        for (int code : new int[] {0, 1047, 1053, 1080, 1152, 1158, 1160, 1184, 1927, 4031}) {
            R2dbcNonTransientResourceException last = new R2dbcNonTransientResourceException("over", null, code);

            assertThat(R2dbcFailure.isBroken(last)).as("%s", code).isTrue();
        }
        assertThat(R2dbcFailure.isBroken(new R2dbcNonTransientResourceException("lost", "08S01", 1159)))
                .isTrue();
    }

    @Test
    void aKeyThatIsNoneIsShownInFewWords() {
        assertThat(KeyLayout.isName(null)).isFalse();
        assertThat(KeyLayout.shown(null)).isEqualTo("'null'");
        assertThat(KeyLayout.shown("x".repeat(1_000_000))).hasSizeLessThan(60).contains("1000000");
    }

    @Test
    void theStatementThatH2RepeatsIsLeftOut() {
        Throwable told = R2dbcFailure.of(
                new R2dbcBadGrammarException(
                        "Table \"LOCKS\" not found; SQL statement:\nSELECT a\nFROM locks [42102-240]"),
                new Sql(Dialect.H2, "locks", Duration.ofSeconds(1)),
                Duration.ofSeconds(1));

        assertThat(told).hasMessageContaining("not found").hasMessageNotContaining("SELECT");
    }

    @Test
    void anErrorOfTheCallerIsNotTheDatabases() {
        IllegalStateException other = new IllegalStateException("of the caller");

        assertThat(R2dbcFailure.isBroken(other)).isFalse();
        assertThat(R2dbcFailure.leavesConnectionWhole(other)).isTrue();
        assertThat(R2dbcFailure.of(
                        other, new Sql(Dialect.MARIADB, "locks", Duration.ofSeconds(1)), Duration.ofSeconds(1)))
                .isSameAs(other);
    }
}
