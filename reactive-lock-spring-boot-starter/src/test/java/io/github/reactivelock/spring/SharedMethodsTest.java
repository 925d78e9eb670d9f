package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockTimeoutException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Sinks;
import reactor.test.StepVerifier;

/** Methods that are in together: readers of a lock, and as many as a semaphore has permits. */
class SharedMethodsTest {

    private static final Duration PATIENCE = Duration.ofMinutes(1);

    private final AnnotationConfigApplicationContext context = Contexts.of(Documents.class);
    private final Documents documents = context.getBean(Documents.class);

    @AfterEach
    void close() {
        documents.end();
        LockClient client = context.getBean(LockClient.class);
        context.close();
        client.close().block(PATIENCE);
    }

    static class Documents {

        private final Sinks.Empty<Void> read = Sinks.empty();
        private final AtomicInteger inside = new AtomicInteger();

        // Called on the proxy, which has no fields of its own.
        public int inside() {
            return inside.get();
        }

        public void end() {
            var unused = read.tryEmitEmpty();
        }

        private Mono<Void> untilRead() {
            inside.incrementAndGet();
            return read.asMono().doFinally(signal -> inside.decrementAndGet());
        }

        @WithLock(name = "document", key = "#id", shared = true)
        public Mono<Void> read(long id) {
            return untilRead();
        }

        @WithLock(name = "document", key = "#id", waitTimeout = "2s")
        public Mono<String> write(long id) {
            return Mono.just("written");
        }

        @WithLock(name = "printer", capacity = 3)
        public Mono<Void> print() {
            return untilRead();
        }

        @WithLock(name = "printer", capacity = 3, permits = 2, waitTimeout = "2s")
        public Mono<String> printPoster() {
            return Mono.just("printed");
        }
    }

    private void untilInside(int many) {
        var unused = Mono.fromSupplier(documents::inside)
                .repeatWhen(again -> again.delayElements(Duration.ofMillis(5)))
                .takeUntil(inside -> inside == many)
                .blockLast(PATIENCE);
    }

    @Test
    void readersAreInTogetherAndNoWriterBesideThem() {
        CompletableFuture<Void> one = documents.read(7).toFuture();
        CompletableFuture<Void> other = documents.read(7).toFuture();
        untilInside(2);

        StepVerifier.create(documents.write(7)).verifyError(LockTimeoutException.class);
        StepVerifier.create(documents.write(8)).expectNext("written").verifyComplete();

        documents.end();
        assertThat(CompletableFuture.allOf(one, other)).succeedsWithin(PATIENCE);
        StepVerifier.create(documents.write(7)).expectNext("written").verifyComplete();
    }

    @Test
    void asManyAreInAsThereArePermits() {
        CompletableFuture<Void> one = documents.print().toFuture();
        untilInside(1);
        StepVerifier.create(documents.printPoster()).expectNext("printed").verifyComplete();
        CompletableFuture<Void> other = documents.print().toFuture();
        untilInside(2);

        StepVerifier.create(documents.printPoster()).verifyError(LockTimeoutException.class);

        documents.end();
        assertThat(CompletableFuture.allOf(one, other)).succeedsWithin(PATIENCE);
    }

    static class Contradicting {
        @WithLock(name = "document", shared = true, capacity = 3)
        public Mono<Void> read() {
            return Mono.empty();
        }
    }

    static class TooMany {
        @WithLock(name = "document", permits = 3)
        public Mono<Void> read() {
            return Mono.empty();
        }
    }

    @Test
    void whatContradictsItselfKeepsTheApplicationFromStarting() {
        assertThatThrownBy(() -> Contexts.of(Contradicting.class))
                .rootCause()
                .hasMessageContaining("it is shared, and it takes permits; leave one of them");
        assertThatThrownBy(() -> Contexts.of(TooMany.class)).rootCause().isInstanceOf(IllegalArgumentException.class);
    }
}
