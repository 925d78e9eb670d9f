package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockLostException;
import io.github.reactivelock.LockTimeoutException;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What a subscriber of a locked method sees. */
class WithLockTest {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final AnnotationConfigApplicationContext context = Contexts.of(Orders.class);
    private final LockClient client = context.getBean(LockClient.class);
    private final Orders orders = context.getBean(Orders.class);

    @AfterEach
    void close() {
        context.close();
        client.close().block();
    }

    @Test
    void theWorkOfAMonoRunsUnderTheLockWhichIsFreeAfterwards() {
        assertThat(orders.isLocked(42).block()).isTrue();

        assertThat(isHeld("order:42")).isFalse();
    }

    @Test
    void aFluxRunsUnderTheLockFromItsFirstValueToItsLast() {
        assertThat(orders.areLocked(42).collectList().block()).containsExactly(true, true, true);

        assertThat(isHeld("order:42")).isFalse();
    }

    @Test
    void aCallDoesNothingAndEachSubscriptionIsACallOfTheMethod() {
        Mono<Boolean> mono = orders.isLocked(42);
        Flux<Boolean> flux = orders.areLocked(42);
        assertThat(orders.calls()).isZero();

        assertThat(mono.repeat(1).collectList().block()).containsExactly(true, true);
        assertThat(flux.repeat(1).collectList().block()).hasSize(6).doesNotContain(false);

        assertThat(orders.calls()).isEqualTo(4);
    }

    @Test
    void retryCallsTheMethodAgain() {
        assertThat(orders.failsTwice(42).retry(2).block()).isEqualTo("done");

        assertThat(orders.calls()).isEqualTo(3);
    }

    @Test
    void flowsExcludeOneAnother() {
        CompletableFuture<Void> first = hold();

        StepVerifier.create(orders.impatient(42)).verifyError(LockTimeoutException.class);
        StepVerifier.create(orders.ifFree(43)).expectNext("ran").verifyComplete();

        orders.end();
        assertThat(first).succeedsWithin(PATIENCE);
        StepVerifier.create(orders.ifFree(42)).expectNext("ran").verifyComplete();
    }

    @Test
    void whatRunsOnlyIfTheLockIsFreeIsElseEmpty() {
        assertThat(orders.ifFree(42).block()).isEqualTo("ran");
        assertThat(orders.manyIfFree(42).collectList().block()).containsExactly("ran", "again");
        CompletableFuture<Void> other = hold();

        StepVerifier.create(orders.ifFree(42)).verifyComplete();
        StepVerifier.create(orders.manyIfFree(42)).verifyComplete();
        assertThat(other).isNotDone();
    }

    @Test
    void theMethodGetsItsHoldWhateverTheCallerPasses() {
        long first = orders.token(42, null).block();
        long second = orders.token(42, null).block();

        assertThat(first).isPositive();
        assertThat(second).isGreaterThan(first);
    }

    @Test
    void severalKeysAreSeveralLocksInTheOrderOfTheirKeys() {
        assertThat(orders.move(7, 3, null).block()).containsExactly("order:3", "order:7");
    }

    @Test
    void severalKeysForOneHandleAreRefused() {
        StepVerifier.create(orders.one(List.of(7L), null)).expectNext("order:7").verifyComplete();
        StepVerifier.create(orders.one(List.of(7L, 3L), null))
                .verifyErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessage(
                                "@WithLock on Orders.one(List, LockHandle): the key #ids gives 2 keys, and the method"
                                        + " takes one LockHandle; let it take a List<LockHandle>"));
    }

    @Test
    void theSameKeyBelowIsTheSameHold() {
        assertThat(orders.below(42, null).block(PATIENCE)).isTrue();
    }

    @Test
    void errorsOfTheMethodPassThrough() throws IOException {
        StepVerifier.create(orders.throwsChecked(42))
                .verifyErrorSatisfies(error ->
                        assertThat(error).isInstanceOf(IOException.class).hasMessage("no file 42"));
        StepVerifier.create(orders.returnsNull(42))
                .verifyErrorSatisfies(error -> assertThat(error)
                        .hasMessage("Orders.returnsNull(long) returned null; let it return an empty publisher"));
        assertThat(isHeld("order:42")).isFalse();
    }

    @Test
    void aLossCancelsTheWorkAndIsTheErrorOfTheSubscriber() {
        StepVerifier.create(orders.held(42))
                .then(() -> untilStarted())
                .then(() -> assertThat(client.forceRelease("order:42").block()).isTrue())
                .expectError(LockLostException.class)
                .verify(PATIENCE);

        orders.cancelled().block(PATIENCE);
    }

    @Test
    void aCancelCancelsTheWorkAndReleases() {
        StepVerifier.create(orders.held(42))
                .then(() -> untilStarted())
                .thenCancel()
                .verify(PATIENCE);

        orders.cancelled().block(PATIENCE);
        client.awaitRelease("order:42").block(PATIENCE);
    }

    @Test
    void aClosedClientIsAnError() {
        client.close().block();

        StepVerifier.create(orders.isLocked(42)).verifyError(LockClientClosedException.class);
        assertThat(orders.calls()).isZero();
    }

    private boolean isHeld(String key) {
        return client.inspect(key).block().isHeld();
    }

    private CompletableFuture<Void> hold() {
        CompletableFuture<Void> holder = orders.held(42).toFuture();
        untilStarted();
        return holder;
    }

    private void untilStarted() {
        orders.started().block(PATIENCE);
    }
}
