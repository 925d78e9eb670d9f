package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class BlockHoundIsOnTest {

    @Test
    void aThreadThatMustNotBlockCannotSleep() {
        Mono<Void> sleeping =
                Mono.<Void>fromRunnable(() -> Pause.of(Duration.ofMillis(1))).subscribeOn(Schedulers.parallel());

        assertThatThrownBy(() -> sleeping.block(Await.LIMIT)).hasRootCauseInstanceOf(BlockingOperationError.class);
    }
}
