package io.github.reactivelock.benchmarks;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.LockBackend;
import java.time.Duration;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** This library. */
final class OurSide implements Side {

    private final LockClient lock;

    private OurSide(LockBackend backend, LockOptions options, Scheduler work) {
        this.lock = LockClient.builder(backend)
                .options(options)
                .workScheduler(work)
                // Sixteen processes that start at once on two processors may take their time.
                .commandTimeout(Duration.ofSeconds(20))
                .build();
    }

    static Side redis(String uri, LockOptions options, Scheduler work) {
        return new OurSide(LettuceLockBackend.connect(uri), options, work);
    }

    static Side etcd(String uri, LockOptions options) {
        return new OurSide(EtcdLockBackend.connect(uri), options, Schedulers.parallel());
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        var unused = lock.withLock(key, held -> {
                    cycle.entered();
                    return Mono.empty();
                })
                .subscribe(nothing -> {}, cycle::ended, () -> cycle.ended(null));
    }

    @Override
    public void hold(String key, long flow, Cycle cycle) {
        var unused = lock.acquire(key).subscribe(handle -> cycle.entered(), cycle::ended);
    }

    @Override
    public void close() {
        lock.close().block();
    }
}
