package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Mono;

/** A connection to a store for one question, closed also when Ctrl-C comes in between. */
final class StoreSession implements AutoCloseable {

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
    /** Share of the time for an answer, so that the client's own error, which says more, comes first. */
    private static final double SHARE = 0.9;

    final LockClient client;
    private final Duration timeout;
    private final CountDownLatch closed = new CountDownLatch(1);

    StoreSession(LockBackend backend, Duration timeout) {
        this.client = LockClient.builder(backend).commandTimeout(share(timeout)).build();
        this.timeout = timeout;
    }

    /**
     * A store that takes no writes can still be read, and is looked at just then. One that is not there says why at
     * once, or when most of the time is over; the look has to leave time for that.
     */
    private Mono<Void> connected() {
        return Mono.defer(() -> {
            long began = System.nanoTime();
            return client.ready()
                    .onErrorResume(unready -> client.inspect(LockBackend.READY_KEY)
                            .then()
                            .timeout(share(timeout.minusNanos(System.nanoTime() - began)))
                            .onErrorMap(unread -> unready));
        });
    }

    private static Duration share(Duration time) {
        return Duration.ofMillis((long) (Math.max(0, time.toMillis()) * SHARE));
    }

    /** Connects and asks. */
    ExitCode ask(Mono<ExitCode> question, Environment environment) {
        CompletableFuture<ExitCode> answer = connected()
                .timeout(timeout, Mono.error(() -> new Silence(timeout)))
                .then(question)
                .toFuture();
        environment.onInterrupt().accept(() -> {
            cancel(answer);
            awaitClosed();
        });
        try {
            return answer.join();
        } catch (CancellationException e) {
            return ExitCode.INTERRUPTED;
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException known ? known : e;
        }
    }

    /** The future is cancelled first, so its thread may have closed the connection when the question is cancelled. */
    private static void cancel(CompletableFuture<ExitCode> answer) {
        try {
            answer.cancel(false);
        } catch (RejectedExecutionException closed) {
            // the question has ended with its connection
        }
    }

    @Override
    public void close() {
        try {
            client.close().onErrorComplete().block(CLOSING);
        } finally {
            closed.countDown();
        }
    }

    /** The program ends when this returns, so it waits until the connection is closed. */
    private void awaitClosed() {
        try {
            closed.await(CLOSING.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
