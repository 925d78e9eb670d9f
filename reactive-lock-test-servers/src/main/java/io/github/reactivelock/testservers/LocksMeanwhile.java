package io.github.reactivelock.testservers;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Locks of two clients while something is done to their store again and again, a backup say. Flows of both take turns
 * on a few keys, a hold is renewed all the time, and one waits for it. The methods block; they are for test threads.
 */
public final class LocksMeanwhile {

    private static final Duration LIMIT = Duration.ofMinutes(3);
    private static final Duration TURN = Duration.ofMillis(2);
    private static final Duration BETWEEN_RENEWALS = Duration.ofMillis(20);
    private static final List<String> KEYS = List.of("turns 1", "turns 2", "turns 3");
    /** How often it is done while turns end. */
    private static final int ENOUGH = 5;

    private final Callable<?> act;
    private final long begun = System.nanoTime();
    private final AtomicBoolean isOver = new AtomicBoolean();
    private final AtomicInteger turns = new AtomicInteger();
    private final AtomicInteger renewals = new AtomicInteger();
    private int served;

    private LocksMeanwhile(Callable<?> act) {
        this.act = act;
    }

    /**
     * Does something until it has seen it cost the locks nothing.
     *
     * @param one a client that is patient
     * @param other another one of the same store
     * @param act what is done; it returns when it was done
     * @throws AssertionError if an acquisition or a renewal fails, two hold a lock, a hold is lost, a token does not
     *     rise, or who waits is not served
     * @throws Exception of what is done
     */
    public static void areServed(LockClient one, LockClient other, Callable<?> act) throws Exception {
        new LocksMeanwhile(act).areServed(one, other);
    }

    private void areServed(LockClient one, LockClient other) throws Exception {
        LockHandle held = get(one.acquire("held").toFuture());
        CompletableFuture<LockHandle> waiting = other.acquire("held").toFuture();
        Pause.until("one waits", () -> waiters(one) == 1);
        CompletableFuture<Void> flows = Flux.fromIterable(KEYS)
                .flatMap(key -> turnsOn(key, List.of(one, one, other, other)))
                .then()
                .toFuture();
        AtomicBoolean isRenewedEnough = new AtomicBoolean();
        CompletableFuture<Void> renewing = held.renew()
                .then(Mono.delay(BETWEEN_RENEWALS))
                .doOnNext(tick -> renewals.incrementAndGet())
                .repeat(() -> !isRenewedEnough.get())
                .then()
                .toFuture();

        repeat(() -> flows.isDone() || renewing.isDone() || (served >= ENOUGH && renewals.get() >= ENOUGH));
        isRenewedEnough.set(true);
        get(renewing.thenApply(ended -> true));
        check(held.isHeld(), "a hold is lost");
        check(!waiting.isDone(), "two hold a lock");
        CompletableFuture<LockHandle> handedOver =
                held.release().then(Mono.fromFuture(waiting)).toFuture();
        repeat(() -> flows.isDone() || handedOver.isDone());
        isOver.set(true);

        check(get(handedOver).fencingToken() > held.fencingToken(), "a token does not rise");
        get(flows.thenApply(ended -> true));
        get(get(handedOver).release().thenReturn(true).toFuture());
    }

    private static long waiters(LockClient client) {
        return get(client.inspect("held").toFuture()).held().orElseThrow().waiters();
    }

    private Flux<Boolean> turnsOn(String key, List<LockClient> clients) {
        AtomicLong newest = new AtomicLong();
        return Flux.fromIterable(clients)
                .flatMap(client -> client.withLock(key, held -> turn(held.fencingToken(), newest))
                        .repeat(() -> !isOver.get()));
    }

    /** Another one's would be written between its look and its write. */
    private Mono<Boolean> turn(long token, AtomicLong newest) {
        long before = newest.get();
        return Mono.delay(TURN).map(tick -> {
            check(token > before, "a token does not rise");
            check(newest.compareAndSet(before, token), "two hold a lock");
            return turns.incrementAndGet() > 0;
        });
    }

    private void repeat(BooleanSupplier isEnough) throws Exception {
        while (!isEnough.getAsBoolean()) {
            check(System.nanoTime() - begun < LIMIT.toNanos(), "locks stand still, after " + turns + " turns");
            int before = turns.get();
            Object unused = act.call();
            served += turns.get() > before ? 1 : 0;
        }
    }

    private static void check(boolean isSo, String otherwise) {
        if (!isSo) {
            throw new AssertionError(otherwise);
        }
    }

    @CanIgnoreReturnValue
    private static <T> T get(CompletableFuture<T> answer) {
        return Objects.requireNonNull(
                answer.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join());
    }
}
