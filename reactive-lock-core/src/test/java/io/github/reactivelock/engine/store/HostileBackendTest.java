package io.github.reactivelock.engine.store;

import static io.github.reactivelock.Bench.LEASE;
import static io.github.reactivelock.Bench.subscribe;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.Bench;
import io.github.reactivelock.BrokenBackend;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.LockUnavailableException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** Backends that do what they should not. */
class HostileBackendTest {

    private final Bench bench = new Bench();

    @Test
    void aBackendThatThrowsIsUnavailable() {
        LockClient client = bench.over(new BrokenBackend()).build();

        List<TestSubscriber<?>> flows = List.of(
                subscribe(client.acquire("k")),
                subscribe(client.withLock("k", Mono.just("v"))),
                subscribe(client.inspect("k")),
                subscribe(client.forceRelease("k")),
                subscribe(client.events("k").next()),
                subscribe(client.awaitRelease("k")));
        assertThat(flows)
                .allSatisfy(flow -> assertThat(flow.expectTerminalError())
                        .isInstanceOf(LockUnavailableException.class)
                        .hasMessageContaining("broken"));

        TestSubscriber<Void> closed = subscribe(client.close());
        bench.time.advance(Duration.ofSeconds(5));
        assertThat(closed.isTerminatedComplete()).isTrue();
        bench.time.advance(LEASE);
        assertThat(bench.time.armedTimers()).isZero();
    }

    @Test
    void aBackendThatCannotSayWhyItIsSilentIsSilent() {
        bench.store.whySilent = key -> {
            throw new IllegalStateException("broken");
        };
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));

        bench.time.advance(Duration.ofMillis(2_250));

        assertThat(flow.expectTerminalError())
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("the store did not answer within 2000 ms: look whether it is up and reachable");
    }

    @Test
    void aBackendThatAnswersWithNothingIsSilent() {
        TestSubscriber<LockHandle> flow = subscribe(bench.client.acquire("k"));
        bench.store.claim().answer(null);

        bench.time.advance(Duration.ofMillis(2_250));

        assertThat(flow.expectTerminalError()).isInstanceOf(LockUnavailableException.class);
    }
}
