package io.github.reactivelock.reliability;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.testkit.history.History;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * What the flows of one client do: they take one of a few locks that all clients want, hold it for a random time and let
 * go; some are cancelled at a random moment, some will not wait long, some only try. A lock in {@code kept} is held for
 * longer than its lease.
 */
final class Traffic {

    private static final int HOT = 4;

    private final History history;
    private final LockClient cohort;
    private final LockClient fifo;
    private final SharedNumbers numbers;

    Traffic(History history, LockClient lock, SharedNumbers numbers) {
        this.history = history;
        this.cohort = lock;
        this.fifo = lock.with(lock.options().withFairness(Fairness.FIFO));
        this.numbers = numbers;
    }

    /** One turn after the other. What the lock refuses is part of the game; anything else is an error. */
    Mono<Void> turns(BooleanSupplier goesOn) {
        return Mono.defer(this::turn)
                .onErrorResume(
                        LockException.class,
                        refused -> Mono.delay(between(1, 30)).then())
                .repeat(goesOn)
                .then();
    }

    private Mono<Void> turn() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        int slot = random.nextInt(HOT);
        boolean ordered = random.nextBoolean();
        LockClient lock = ordered ? fifo : cohort;
        String key = (ordered ? "fifo-" : "cohort-") + slot;
        Function<LockHandle, Mono<Void>> work = work(ordered ? slot : HOT + slot, holding(random));
        int dice = random.nextInt(1_000);
        if (dice < 150) {
            return history.withLock(lock, key, work).takeUntilOther(Mono.delay(between(0, 30)));
        }
        if (dice < 300) {
            LockClient impatient = lock.with(lock.options().withWaitTimeout(between(1, 40)));
            return history.withLock(impatient, key, work);
        }
        if (dice < 400) {
            return history.tryLock(lock, key, work);
        }
        if (dice < 401) {
            Duration longerThanTheLease = lock.options().lease().multipliedBy(5).dividedBy(4);
            return history.withLock(lock, "kept-" + slot, work(2 * HOT + slot, longerThanTheLease));
        }
        return history.withLock(lock, key, work);
    }

    private Function<LockHandle, Mono<Void>> work(int slot, Duration time) {
        return held -> Increment.of(numbers, slot, held, time);
    }

    private static Duration holding(ThreadLocalRandom random) {
        int dice = random.nextInt(100);
        if (dice < 80) {
            return Duration.ZERO;
        }
        return dice < 99 ? Duration.ofNanos(random.nextLong(1, 2_000_000)) : between(1, 20);
    }

    private static Duration between(long least, long most) {
        return Duration.ofMillis(ThreadLocalRandom.current().nextLong(least, most + 1));
    }
}
