package io.github.reactivelock.redis;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** {@code onErrorContinue} of a subscriber, which its Context brings to all operators above, decides nothing here. */
class ContinuedErrorsTest {

    private final FakeConnection connection = new FakeConnection();

    /** Today's drivers have no operator that could be continued; that of a connection may be one. */
    @Test
    void aGuardsFailureInAnOperatorOfItsConnectionIsNotContinued() {
        RedisFencingGuard guard = new RedisFencingGuard(connection, "mine");
        connection.reply = Mono.just("an answer").map(answer -> {
            throw new ArithmeticException("cannot be read");
        });

        for (Mono<String> write : List.of(guard.write("k", 9, "SET", "x"), guard.writeShared("k", 9, "SET", "x"))) {
            assertThatThrownBy(() -> Flux.from(write)
                            .onErrorContinue((error, value) -> {})
                            .blockLast(Duration.ofMinutes(1)))
                    .hasMessageContaining("cannot be read");
        }
    }
}
