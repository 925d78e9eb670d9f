package io.github.reactivelock.benchmarks.side;

import java.util.Map;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import java.util.function.Supplier;
import org.redisson.Redisson;
import org.redisson.api.RLockAsync;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RReadWriteLock;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;

/** Redisson's read/write lock and its two semaphores through their futures. */
final class RedissonSharesSide implements Side {

    /** Which of them. */
    enum Kind {
        READ,
        READ_WRITE,
        SEMAPHORE,
        EXPIRABLE
    }

    private final RedissonClient redisson;
    private final Kind kind;
    private final Map<String, RSemaphore> semaphores = new ConcurrentHashMap<>();
    private final Map<String, RPermitExpirableSemaphore> expirable = new ConcurrentHashMap<>();

    RedissonSharesSide(String uri, Kind kind) {
        this.redisson = Redisson.create(RedissonAsyncSide.config(uri));
        this.kind = kind;
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        CompletionStage<Void> cycled = switch (kind) {
            case READ -> locked(readWrite(key).readLock(), flow, cycle);
            case READ_WRITE -> locked(one(readWrite(key)), flow, cycle);
            case SEMAPHORE -> inSemaphore(key, cycle);
            case EXPIRABLE -> inExpirable(key, cycle);
        };
        cycled.whenComplete((nothing, failure) -> cycle.ended(failure));
    }

    private RReadWriteLock readWrite(String key) {
        return redisson.getReadWriteLock("rw:" + key);
    }

    private static RLockAsync one(RReadWriteLock lock) {
        return OurSharesSide.isWrite() ? lock.writeLock() : lock.readLock();
    }

    private static CompletionStage<Void> locked(RLockAsync lock, long flow, Cycle cycle) {
        return lock.lockAsync(flow).thenCompose(entering(cycle, () -> lock.unlockAsync(flow)));
    }

    private CompletionStage<Void> inSemaphore(String key, Cycle cycle) {
        RSemaphore semaphore = semaphores.computeIfAbsent(key, this::semaphore);
        return semaphore.acquireAsync().thenCompose(entering(cycle, semaphore::releaseAsync));
    }

    private CompletionStage<Void> inExpirable(String key, Cycle cycle) {
        RPermitExpirableSemaphore semaphore = expirable.computeIfAbsent(key, this::expirable);
        return semaphore.acquireAsync().thenCompose(permit -> {
            cycle.entered();
            return semaphore.releaseAsync(permit);
        });
    }

    /** Its size is set once. */
    private RSemaphore semaphore(String key) {
        RSemaphore semaphore = redisson.getSemaphore("permits:" + key);
        semaphore.trySetPermits(OurSharesSide.PERMITS);
        return semaphore;
    }

    private RPermitExpirableSemaphore expirable(String key) {
        RPermitExpirableSemaphore semaphore = redisson.getPermitExpirableSemaphore("leased:" + key);
        semaphore.trySetPermits(OurSharesSide.PERMITS);
        return semaphore;
    }

    private static Function<Void, CompletionStage<Void>> entering(
            Cycle cycle, Supplier<? extends CompletionStage<Void>> leaving) {
        return nothing -> {
            cycle.entered();
            return leaving.get();
        };
    }

    @Override
    public void close() {
        redisson.shutdown();
    }
}
