package io.github.reactivelock.faults;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockException;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.testkit.history.History;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/**
 * What the flows of one client do in a round: they take one of a few locks that all clients want, hold it for a random
 * time and let go; some are cancelled at a random moment, some will not wait long, some only try. A lock in
 * {@code kept} is held for longer than its lease, while the round lasts for that long. Some locks are shared: by
 * readers and now and then a writer, or by those who want a permit or two, and now and then all.
 * Where the store calls back, about a third of the turns leave their lock with the client for its next one.
 */
final class Traffic {

    private static final int ORDERED = 4;
    private static final int PASSED = 12;
    private static final int KEPT = 3;
    private static final int SHARED = 4;
    private static final int PERMITS = 3;
    private static final Duration RETENTION = Duration.ofMillis(500);

    private final History history;
    private final LockClient cohort;
    private final LockClient retaining;
    private final LockClient fifo;
    private final LockClient readers;
    private final LockClient onePermit;
    private final LockClient twoPermits;
    private final SharedNumbers numbers;
    private final Duration keeping;
    private final long end;

    /** @param recalls whether the store calls back what a client keeps for its next flow */
    Traffic(History history, LockClient lock, boolean recalls, SharedNumbers numbers, Duration time) {
        this.history = history;
        this.cohort = lock;
        this.retaining = recalls ? lock.with(lock.options().withRetention(RETENTION)) : lock;
        this.fifo = lock.with(lock.options().withFairness(Fairness.FIFO));
        this.readers = lock.shared();
        this.onePermit = lock.permits(1, PERMITS);
        this.twoPermits = lock.permits(2, PERMITS);
        this.numbers = numbers;
        this.keeping = lock.options().lease().multipliedBy(5).dividedBy(4);
        this.end = System.nanoTime() + time.toNanos();
    }

    /** One turn after the other. What the lock refuses is part of the game; anything else is an error. */
    Mono<Void> turns() {
        return Mono.defer(this::turn)
                .onErrorResume(
                        LockException.class,
                        refused -> Mono.delay(between(1, 30)).then())
                .repeat(() -> left() > 0)
                .then();
    }

    private long left() {
        return end - System.nanoTime();
    }

    private Mono<Void> turn() {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        long leftToWait = left() - keeping.toNanos();
        if (leftToWait > 0 && random.nextInt(5_000) == 0) {
            int slot = random.nextInt(KEPT);
            LockClient patient = slot == 0 ? reading(random) : cohort;
            LockClient lock = patient.with(patient.options().withWaitTimeout(Duration.ofNanos(leftToWait)));
            return history.withLock(lock, "kept-" + slot, work(lock, ORDERED + PASSED + slot, keeping));
        }
        Duration time = holding(random);
        if (random.nextInt(5) == 0) {
            int slot = random.nextInt(SHARED);
            LockClient lock = slot < SHARED / 2 ? reading(random) : working(random);
            return turn(random, lock, "shared-" + slot, work(lock, ORDERED + PASSED + KEPT + slot, time));
        }
        boolean ordered = random.nextInt(4) == 0;
        int slot = random.nextInt(ordered ? ORDERED : PASSED);
        LockClient passed = random.nextBoolean() ? retaining : cohort;
        LockClient lock = ordered ? fifo : passed;
        String key = (ordered ? "fifo-" : "cohort-") + slot;
        return turn(random, lock, key, work(lock, ordered ? slot : ORDERED + slot, time));
    }

    private LockClient reading(ThreadLocalRandom random) {
        return random.nextInt(6) == 0 ? cohort : readers;
    }

    private LockClient working(ThreadLocalRandom random) {
        int dice = random.nextInt(30);
        return dice == 0 ? fifo : dice < 8 ? twoPermits : onePermit;
    }

    private Mono<Void> turn(
            ThreadLocalRandom random, LockClient lock, String key, Function<LockHandle, Mono<Void>> work) {
        int dice = random.nextInt(100);
        if (dice < 15) {
            return history.withLock(lock, key, work).takeUntilOther(Mono.delay(between(0, 30)));
        }
        if (dice < 30) {
            LockClient impatient = lock.with(lock.options().withWaitTimeout(between(1, 40)));
            return history.withLock(impatient, key, work);
        }
        if (dice < 40) {
            return history.tryLock(lock, key, work);
        }
        return history.withLock(lock, key, work);
    }

    /** Only who has the whole lock writes. */
    private Function<LockHandle, Mono<Void>> work(LockClient lock, int slot, Duration time) {
        return lock.options().share().isWhole()
                ? held -> Increment.of(numbers, slot, held, time)
                : held -> Increment.passing(held, time);
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
