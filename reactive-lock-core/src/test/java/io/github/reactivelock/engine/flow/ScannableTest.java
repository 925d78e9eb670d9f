package io.github.reactivelock.engine.flow;

import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.Scannable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** What Reactor's own tools see of a lock: debug traces and the chain of operators. */
class ScannableTest {

    private final Bench bench = new Bench();
    private final LockClient client =
            bench.over(InMemoryLockBackend.create(bench.time::nanos)).build();

    @Test
    void aDebugTraceGoesThroughTheLockAndNamesNothingOfTheLibrary() {
        Hooks.onOperatorDebug();
        try {
            Mono<String> work = failing();
            Mono<String> locked = client.withLock("k", work).map(value -> value + "!");

            Throwable failure = subscribe(locked).expectTerminalError();

            String trace = failure.getSuppressed()[0].getMessage();
            List<String> lines =
                    trace.lines().filter(line -> line.contains("⇢")).toList();
            assertThat(lines).as(trace).hasSize(2);
            assertThat(lines.get(0)).contains("*_", "Mono.error", "ScannableTest.failing");
            assertThat(lines.get(1)).contains("|_", "Mono.map", "ScannableTest.aDebugTrace");
            assertThat(trace).doesNotContain("LockedWork", "LockClient", "WithLock");
        } finally {
            Hooks.resetOnOperatorDebug();
        }
    }

    private static Mono<String> failing() {
        return Mono.error(new IllegalStateException("own"));
    }

    @Test
    void theChainOfOperatorsGoesThroughTheLock() {
        AtomicReference<Subscription> inside = new AtomicReference<>();
        Mono<String> work = Mono.<String>never().hide().doOnSubscribe(inside::set);

        TestSubscriber<String> flow = subscribe(client.withLock("k", work).map(value -> value + "!"));

        assertThat(Scannable.from(inside.get()).actuals().map(Scannable::stepName))
                .contains("withLock", "map");
        flow.cancel();
        assertThat(Scannable.from(client.withLock("k", work)).parents().map(Scannable::stepName))
                .contains("hide");
        assertThat(Scannable.from(client.withLock("k", Flux.never())).stepName())
                .isEqualTo("withLockMany");
    }
}
