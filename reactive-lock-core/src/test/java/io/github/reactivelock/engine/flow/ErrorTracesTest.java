package io.github.reactivelock.engine.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.ScriptedBackend;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** What an error of a lock prints: nothing of the engine's inside, and where the caller stood. */
class ErrorTracesTest {

    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final LockClient client = LockClient.create(InMemoryLockBackend.create());

    private Mono<String> thatTimesOut() {
        return client.acquire("key")
                .flatMap(held -> client.with(LockOptions.defaults().withWaitTimeout(Duration.ofMillis(10)))
                        .withLock("key", Mono.just("done")));
    }

    private Mono<String> thatLosesItsLock() {
        return client.withLock("other", client.forceRelease("other").then(Mono.never()));
    }

    private static void assertNothingOfTheEngine(Throwable failure) {
        assertThat(failure).isInstanceOf(LockException.class);
        assertThat(failure.getStackTrace()).isEmpty();
        StringWriter printed = new StringWriter();
        failure.printStackTrace(new PrintWriter(printed));
        assertThat(printed.toString().lines())
                .filteredOn(line -> line.contains("at io.github.reactivelock."))
                .isNotEmpty()
                .allMatch(line -> line.contains(ErrorTracesTest.class.getSimpleName()));
    }

    @Test
    void anErrorOfALockPrintsTheCallerAndNothingOfTheEngine() {
        assertNothingOfTheEngine(catchThrowable(() -> thatTimesOut().block(LIMIT)));
        assertNothingOfTheEngine(catchThrowable(() -> thatLosesItsLock().block(LIMIT)));
    }

    /** Of its cause neither, which says in words why the store is not known to have answered. */
    @Test
    void anErrorOfASilentStorePrintsNothingOfTheEngineEither() {
        Bench bench = new Bench();
        TestSubscriber<LockHandle> unanswered = Bench.subscribe(client(bench).acquire("a"));
        bench.store.disconnect();
        TestSubscriber<LockHandle> unconnected = Bench.subscribe(client(bench).acquire("b"));

        bench.time.advance(LIMIT);

        for (TestSubscriber<LockHandle> flow : List.of(unanswered, unconnected)) {
            StringWriter printed = new StringWriter();
            flow.expectTerminalError().printStackTrace(new PrintWriter(printed));
            assertThat(printed.toString().lines())
                    .hasSize(2)
                    .last()
                    .asString()
                    .startsWith("Caused by: java.util.concurrent.TimeoutException");
        }
    }

    private static LockClient client(Bench bench) {
        return bench.with(o -> o.withWaitTimeout(Duration.ofSeconds(1)));
    }

    @Test
    void flowsThatFailTogetherHaveAnErrorEach() {
        ScriptedBackend backend = new ScriptedBackend();
        LockClient failing = LockClient.create(backend);
        List<CompletableFuture<String>> flows = Stream.of("first", "second")
                .map(name -> failing.withLock("key", Mono.just("done"))
                        .checkpoint(name)
                        .toFuture())
                .toList();

        backend.claims.get(0).fail();

        assertThat(flows.stream().map(ErrorTracesTest::errorOf).distinct()).hasSize(2);
        assertThat(errorOf(flows.get(0)).getSuppressed()[0])
                .hasMessageContaining("first")
                .hasMessageNotContaining("second");
    }

    private static Throwable errorOf(CompletableFuture<?> flow) {
        return Objects.requireNonNull(
                catchThrowable(() -> flow.get(1, TimeUnit.MINUTES)).getCause());
    }

    @Test
    void aCheckpointOfTheCallerIsInTheError() {
        Throwable failure =
                catchThrowable(() -> thatTimesOut().checkpoint("in the shop").block(LIMIT));

        assertThat(Arrays.stream(failure.getSuppressed()).map(Throwable::getMessage))
                .anyMatch(message -> message.contains("in the shop"));
    }
}
