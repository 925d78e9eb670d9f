package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.r2dbc.spi.R2dbcBadGrammarException;
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
