package io.github.reactivelock.examples.verticle;

import io.github.reactivelock.LockOptions;
import io.github.reactivelock.vertx.VertxLockBackend;
import io.github.reactivelock.vertx.VertxLockClient;
import io.github.reactivelock.vertx.VertxLockHandle;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A verticle that prints invoices. It has its own lock client, as a separate process would. Undeploying it closes the
 * client, which releases all holds.
 */
final class Clerk extends VerticleBase {

    private static final int ASKED_AGAIN = 5;
    private static final int PAUSE_MILLIS = 200;

    private final String name;
    private final String redis;
    private final Office office;
    private @Nullable VertxLockClient client;

    Clerk(String name, String redis, Office office) {
        this.name = name;
        this.redis = redis;
        this.office = office;
    }

    @Override
    public Future<?> start() {
        client = VertxLockClient.create(vertx, VertxLockBackend.connect(vertx, redis))
                .with(LockOptions.defaults().withOwner(name));
        return storeAnswers(ASKED_AGAIN);
    }

    /** The first command of a process loads the driver, which can take a busy machine longer than a command's time. */
    private Future<?> storeAnswers(int tries) {
        return lock().inspect("printer")
                .recover(silence -> tries == 0
                        ? Future.failedFuture(silence)
                        : vertx.timer(PAUSE_MILLIS)
                                .compose(again -> storeAnswers(tries - 1))
                                .mapEmpty());
    }

    /** Looks and prints without a lock. */
    Future<Void> printCarelessly(List<Integer> invoices) {
        return oneByOne(
                invoices,
                invoice -> office.isPrinted(invoice)
                        .compose(printed -> printed ? Future.succeededFuture() : office.print(invoice)));
    }

    /** Looks and prints under the invoice's lock. */
    Future<Void> print(List<Integer> invoices) {
        return oneByOne(
                invoices,
                invoice -> lock().withLock(
                                key(invoice),
                                () -> office.isPrinted(invoice)
                                        .compose(printed -> printed ? Future.succeededFuture() : print(invoice))));
    }

    /** Callable from anywhere. Under the invoice's lock it joins that hold and costs nothing. */
    private Future<Void> print(int invoice) {
        return lock().withLock(
                        key(invoice),
                        held -> lock().withLock("printer", () -> office.print(invoice))
                                .onSuccess(done -> System.out.println("    " + name + " printed " + key(invoice)
                                        + ", token " + held.fencingToken())));
    }

    /** Takes a lock and keeps it. */
    Future<VertxLockHandle> takeTheKeys() {
        return lock().acquire("keys of the office")
                .onSuccess(held -> System.out.println("    " + name + " holds the keys, token " + held.fencingToken()));
    }

    private VertxLockClient lock() {
        return Objects.requireNonNull(client, "the verticle has not been deployed");
    }

    private static String key(int invoice) {
        return "invoice:" + invoice;
    }

    private interface Step {
        Future<Void> with(int invoice);
    }

    private static Future<Void> oneByOne(List<Integer> invoices, Step step) {
        Future<Void> chain = Future.succeededFuture();
        for (int invoice : invoices) {
            chain = chain.compose(done -> step.with(invoice));
        }
        return chain;
    }

    /** Runs on this verticle's own context. */
    <T> Future<T> ask(Supplier<Future<T>> question) {
        return Future.future(
                answer -> context.runOnContext(now -> question.get().onComplete(answer)));
    }
}
