package io.github.reactivelock.r2dbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testservers.PostgresServer;
import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactories;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Subscription;
import reactor.core.CoreSubscriber;
import reactor.core.Disposable;
import reactor.core.publisher.Hooks;
import reactor.core.publisher.Mono;
import reactor.core.publisher.Operators;
import reactor.core.publisher.Sinks;
import reactor.util.context.Context;

/**
 * A connection of a pool goes from one flow to the next, on the thread of the first. What that carries does not go
 * along.
 */
class HandedOverTest {

    private static final String HOOK = "reactivelock.r2dbc.carried";

    private final ThreadLocal<String> user = new ThreadLocal<>();
    private final Queue<String> seen = new ConcurrentLinkedQueue<>();
    private final Sinks.Empty<Void> enough = Sinks.empty();

    @BeforeEach
    void hook() {
        Hooks.onEachOperator(HOOK, Operators.lift((source, actual) -> new Keeping<>(actual)));
    }

    @AfterEach
    void unhook() {
        Hooks.resetOnEachOperator(HOOK);
    }

    /** As the agent of OpenTelemetry: where a flow carries nothing, the thread keeps what it has. */
    private final class Keeping<T> implements CoreSubscriber<T> {

        private final CoreSubscriber<? super T> actual;
        private final @Nullable String kept = user.get();

        Keeping(CoreSubscriber<? super T> actual) {
            this.actual = actual;
        }

        private void signal(Runnable signal) {
            if (kept == null) {
                signal.run();
            } else {
                boolean unused = carrying(kept, () -> {
                    signal.run();
                    return true;
                });
            }
        }

        @Override
        public Context currentContext() {
            return actual.currentContext();
        }

        @Override
        public void onSubscribe(Subscription subscription) {
            signal(() -> actual.onSubscribe(subscription));
        }

        @Override
        public void onNext(T value) {
            signal(() -> actual.onNext(value));
        }

        @Override
        public void onError(Throwable failure) {
            signal(() -> actual.onError(failure));
        }

        @Override
        public void onComplete() {
            signal(actual::onComplete);
        }
    }

    private <T> T carrying(@Nullable String value, Supplier<T> step) {
        String before = user.get();
        set(value);
        try {
            return step.get();
        } finally {
            set(before);
        }
    }

    private void set(@Nullable String value) {
        if (value == null) {
            user.remove();
        } else {
            user.set(value);
        }
    }

    private Mono<Void> noted(String what) {
        return Mono.fromRunnable(() -> seen.add(what + user.get()));
    }

    @Test
    void aFlowSeesNothingOfTheOneThatGaveItsConnectionBack() {
        try (PostgresServer server = PostgresServer.start()) {
            Tapped tapped = Tapped.of(ConnectionFactories.get(server.url()), text -> noted("asks as "));
            ConnectionPool pool = new ConnectionPool(ConnectionPoolConfiguration.builder(tapped)
                    .initialSize(0)
                    .maxSize(1)
                    .build());
            R2dbcLockBackend tables =
                    R2dbcLockBackend.connect(ConnectionFactories.get(server.url()), Databases.PATIENT);
            tables.createTables().then(tables.close()).block(Databases.LIMIT);
            RowLocks rows = RowLocks.using(pool, Databases.LIMIT, Databases.PATIENT);

            CompletableFuture<Void> first = carrying(
                    "first",
                    () -> rows.withRowLock("a", connection -> noted("works as ").then(enough.asMono()))
                            .toFuture());
            Databases.until("it works", () -> seen.contains("works as first"));
            CompletableFuture<Void> none =
                    rows.withRowLock("b", connection -> noted("works as ")).toFuture();
            waiting(pool, 1);
            CompletableFuture<Void> third = carrying(
                    "third",
                    () -> rows.withRowLock("c", connection -> noted("works as "))
                            .toFuture());
            waiting(pool, 2);
            seen.clear();
            boolean unused = carrying("first", () -> enough.tryEmitEmpty().isSuccess());

            assertThat(List.of(first, none, third))
                    .allSatisfy(each -> assertThat(each).succeedsWithin(Databases.LIMIT));
            Databases.dispose(pool);
        }

        assertThat(seen.stream().distinct())
                .containsExactly("asks as null", "works as null", "asks as third", "works as third");
    }

    /** It goes on when that flow has ended. */
    @Test
    void listeningForAllFlowsCarriesNothingOfTheOneThatCameFirst() {
        try (PostgresServer server = PostgresServer.start()) {
            Tapped tapped = Tapped.of(
                    ConnectionFactories.get(server.url()),
                    text -> text.startsWith("SELECT pg_notify") ? noted("asks as ") : Mono.empty());
            R2dbcLockBackend backend = R2dbcLockBackend.connect(tapped, Databases.PATIENT);
            backend.createTables().block(Databases.LIMIT);

            Disposable watching = carrying("first", () -> backend.events("a").subscribe());
            Databases.until("it asks whether notices arrive", () -> !seen.isEmpty());
            watching.dispose();
            backend.close().block(Databases.LIMIT);
        }

        assertThat(seen).containsOnly("asks as null");
    }

    private static void waiting(ConnectionPool pool, int flows) {
        Databases.until(
                "they wait for the connection",
                () -> pool.getMetrics().orElseThrow().pendingAcquireSize() == flows);
    }
}
