package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

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
    void anErrorOfTheCallerIsNotTheDatabases() {
        IllegalStateException other = new IllegalStateException("of the caller");

        assertThat(R2dbcFailure.isBroken(other)).isFalse();
        assertThat(R2dbcFailure.leavesConnectionWhole(other)).isTrue();
        assertThat(R2dbcFailure.of(
                        other, new Sql(Dialect.MARIADB, "locks", Duration.ofSeconds(1)), Duration.ofSeconds(1)))
                .isSameAs(other);
    }
}
