package io.github.reactivelock.consul;

import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.ConsulServer;
import io.github.reactivelock.testservers.Pause;
import java.io.FileNotFoundException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What the tests of this module share. */
final class Consuls {

    static final Duration LIMIT = Duration.ofSeconds(60);

    private Consuls() {}

    /** Patient, so that a busy machine looks like nothing else than a slow one. */
    static ConsulBackendOptions patient() {
        return ConsulBackendOptions.defaults().withCommandTimeout(Duration.ofSeconds(12));
    }

    static ConsulBackendOptions shortLeases() {
        return patient().withShortestLease(Duration.ofMillis(1));
    }

    static <T> T get(Mono<T> answer) {
        return Objects.requireNonNull(answer.block(LIMIT));
    }

    static void done(Mono<?> work) {
        var unused = work.block(LIMIT);
    }

    static Throwable error(Mono<?> answer) {
        return get(answer.<Throwable>map(value -> new AssertionError("no error but " + value))
                .onErrorResume(Mono::just)
                .defaultIfEmpty(new AssertionError("no error")));
    }

    /** For what is refused while there is no leader, say: asked again until the store has answered. */
    static <T> Mono<T> patiently(Mono<T> question) {
        return question.retryWhen(
                Retry.fixedDelay(100, Duration.ofMillis(200)).filter(LockUnavailableException.class::isInstance));
    }

    static void until(String what, BooleanSupplier isSo) {
        Pause.until(what, LIMIT, isSo);
    }

    /** The names of all keys below the default prefix. */
    static List<String> keys(ConsulServer server) {
        try {
            return Json.names(server.ask("GET", "kv/reactivelock/?keys&consistent", ""));
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof FileNotFoundException) { // there is none
                return List.of();
            }
            throw e;
        }
    }
}
