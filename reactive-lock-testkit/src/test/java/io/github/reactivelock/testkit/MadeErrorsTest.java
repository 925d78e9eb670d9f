package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockTimeoutException;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.spi.SignalsRefusedException;
import io.github.reactivelock.state.LossReason;
import io.github.reactivelock.state.StaleTokenException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Errors that a test of an application makes, from a package of its own, to see what its code does with them. */
class MadeErrorsTest {

    private final IllegalStateException cause = new IllegalStateException("the store is gone");

    @Test
    void everyErrorOfALockCanBeMade() {
        List<LockException> made = List.of(
                new LockLostException("k", 7, LossReason.EXPIRED, cause),
                new LockTimeoutException("k", Duration.ofSeconds(2)),
                new LockUnavailableException("k", cause),
                new LockUnavailableException("k", "acquired", cause),
                new LockClientClosedException("k"));

        assertThat(made).extracting(LockException::key).containsOnly("k");
        assertThat(made).extracting(LockException::getMessage).doesNotContainNull();
    }

    @Test
    void aMadeErrorSaysWhatTheClientsWould() {
        LockLostException lost = new LockLostException("k", 7, LossReason.EXPIRED, cause);

        assertThat(lost.fencingToken()).isEqualTo(7);
        assertThat(lost.reason()).isEqualTo(LossReason.EXPIRED);
        assertThat(lost).hasCause(cause).hasMessageContaining(LossReason.EXPIRED.text());
    }

    @Test
    void errorsOfResourcesAndStoresCanBeMadeToo() {
        assertThat(new StaleTokenException("row 7", 3, 4)).hasMessageContaining("row 7");
        assertThat(new SignalsRefusedException("no rights to the channels", cause))
                .hasCause(cause);
    }
}
