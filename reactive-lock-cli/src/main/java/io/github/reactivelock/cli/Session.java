package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** One question to a store, from the connection to its end; also when Ctrl-C comes in between. */
final class Session {

    /** The store did not let itself be connected, or asked, within the time given. */
    static final class Silence extends RuntimeException {
        private static final long serialVersionUID = 1L;

        Silence(Duration time) {
            super("the store did not connect and answer within " + Durations.shown(time)
                    + ": is it running, is the way to it open, and is --timeout long enough?");
        }
    }

    /** More than a client needs to close. */
    private static final Duration CLOSING = Duration.ofSeconds(8);
    /** Of the time for an answer, so that the client's own error, which says more, comes first. */
    private static final double SHARE = 0.9;

    final LockClient client;
    private final Duration timeout;

    Session(LockBackend backend, Duration timeout) {
        this.client = LockClient.builder(backend)
                .commandTimeout(Duration.ofMillis((long) (timeout.toMillis() * SHARE)))
                .build();
        this.timeout = timeout;
    }

    /** Connects, asks, and closes the connection, whatever comes of it. */
    ExitCode ask(Mono<ExitCode> question, Surroundings surroundings) {
        CompletableFuture<ExitCode> answer = client.ready()
                .timeout(timeout, Mono.error(() -> new Silence(timeout)))
                .then(question)
                .toFuture();
        CountDownLatch closed = new CountDownLatch(1);
        surroundings.onInterrupt().accept(() -> {
            answer.cancel(false);
            await(closed);
        });
        try {
            return answer.join();
        } catch (CancellationException e) {
            return ExitCode.INTERRUPTED;
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : e;
        } finally {
            client.close().onErrorComplete().block(CLOSING);
            closed.countDown();
        }
    }

    /** The program ends when this returns, so it waits until the connection is closed. */
    private static void await(CountDownLatch closed) {
        try {
            boolean unused = closed.await(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
