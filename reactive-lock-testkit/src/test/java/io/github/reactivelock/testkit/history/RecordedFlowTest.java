package io.github.reactivelock.testkit.history;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.state.Share;
import io.github.reactivelock.testkit.history.HistoryEvent.Kind;
import java.time.Duration;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Sinks;

/** What is recorded of a flow when two things end it at once. */
class RecordedFlowTest {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Else the next flow would be recorded with the lock before this one is recorded without it. */
    @Test
    void aCancelThatMeetsTheEndOfTheWorkReturnsAfterThatIsWritten() {
        LockClient lock = LockClient.create(InMemoryLockBackend.create());
        LockHandle held = Objects.requireNonNull(lock.acquire("k").block(LIMIT));
        Sinks.Empty<Object> work = Sinks.empty();
        AtomicReference<Disposable> running = new AtomicReference<>();
        AtomicReference<CompletableFuture<Void>> cancelling = new AtomicReference<>();
        AtomicReference<Boolean> returnedBefore = new AtomicReference<>();
        History history = new History("client", event -> {
            if (event.kind() == Kind.RELEASED) {
                CompletableFuture<Void> cancel =
                        CompletableFuture.runAsync(() -> running.get().dispose());
                cancelling.set(cancel);
                returnedBefore.set(returns(cancel, Duration.ofMillis(200)));
            }
        });
        RecordedFlow flow = new RecordedFlow(history, "k", "1", Share.WHOLE);
        running.set(flow.under(held, handle -> work.asMono()).subscribe());

        work.tryEmitEmpty().orThrow();

        cancelling.get().orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
        assertThat(returnedBefore.get()).isFalse();
        lock.close().block(LIMIT);
    }

    private static boolean returns(CompletableFuture<Void> call, Duration limit) {
        return call.thenApply(done -> true)
                .completeOnTimeout(false, limit.toMillis(), TimeUnit.MILLISECONDS)
                .join();
    }
}
