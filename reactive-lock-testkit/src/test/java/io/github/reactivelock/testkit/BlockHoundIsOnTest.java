package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.Callable;
import org.junit.jupiter.api.Test;
import reactor.blockhound.BlockingOperationError;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

class BlockHoundIsOnTest {

    @Test
    void aThreadThatMustNotBlockCannotSleep() {
        Callable<Boolean> sleep = () -> {
            Thread.sleep(1);
            return true;
        };
        Mono<Boolean> sleeping = Mono.fromCallable(sleep).subscribeOn(Schedulers.parallel());

        assertThatThrownBy(() -> sleeping.block(Await.LIMIT)).hasRootCauseInstanceOf(BlockingOperationError.class);
    }
}
