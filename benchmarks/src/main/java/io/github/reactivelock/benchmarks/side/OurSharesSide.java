package io.github.reactivelock.benchmarks.side;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import java.util.concurrent.ThreadLocalRandom;
import reactor.core.publisher.Mono;

/** This library's read locks and permits. */
final class OurSharesSide implements Side {

    /** How many permits every semaphore has. */
    static final int PERMITS = 10;

    /** What a flow takes. */
    enum Kind {
        READ,
        /** The whole lock, one time in ten. */
        READ_WRITE,
        PERMIT
    }

    private final LockClient whole;
    private final LockClient share;
    private final Kind kind;

    private OurSharesSide(LockBackend backend, Kind kind) {
        this.whole = LockClient.create(backend);
        this.share = kind == Kind.PERMIT ? whole.permits(1, PERMITS) : whole.shared();
        this.kind = kind;
    }

    static Side redis(String uri, Kind kind) {
        return new OurSharesSide(LettuceLockBackend.connect(uri), kind);
    }

    static Side zooKeeper(String uri, Kind kind) {
        return new OurSharesSide(ZooKeeperLockBackend.connect(uri), kind);
    }

    /** One acquisition in ten. */
    static boolean isWrite() {
        return ThreadLocalRandom.current().nextInt(10) == 0;
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        LockClient taken = kind == Kind.READ_WRITE && isWrite() ? whole : share;
        taken.withLock(key, held -> {
                    cycle.entered();
                    return Mono.empty();
                })
                .subscribe(nothing -> {}, cycle::ended, () -> cycle.ended(null));
    }

    @Override
    public void close() {
        whole.close().block();
    }
}
