package io.github.reactivelock.benchmarks.side;

import io.r2dbc.pool.ConnectionPool;
import io.r2dbc.pool.ConnectionPoolConfiguration;
import io.r2dbc.spi.ConnectionFactories;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.locks.LockSupport;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import net.javacrumbs.shedlock.provider.r2dbc.R2dbcLockProvider;

/** ShedLock over R2DBC, which blocks and does not wait. Every flow has a thread, and asks again after a millisecond. */
final class ShedLockSide extends BlockingSide {

    private static final Duration AT_MOST = Duration.ofSeconds(30);
    private static final Duration PAUSE = Duration.ofMillis(1);

    private final ConnectionPool connections;
    private final R2dbcLockProvider locks;

    ShedLockSide(String uri) {
        this.connections = new ConnectionPool(ConnectionPoolConfiguration.builder(ConnectionFactories.get(uri))
                .build());
        this.locks = new R2dbcLockProvider(connections);
    }

    @Override
    void locked(String key, Cycle cycle) {
        SimpleLock lock = taken(key);
        cycle.entered();
        lock.unlock();
    }

    private SimpleLock taken(String key) {
        Optional<SimpleLock> lock = attempt(key);
        while (lock.isEmpty()) {
            LockSupport.parkNanos(PAUSE.toNanos());
            lock = attempt(key);
        }
        return lock.get();
    }

    /** By ShedLock's own clock, in whole milliseconds: a finer time ends a lock after its release. */
    private Optional<SimpleLock> attempt(String key) {
        return locks.lock(new LockConfiguration(ClockProvider.now(), key, AT_MOST, Duration.ZERO));
    }

    @Override
    public void close() {
        super.close();
        connections.dispose();
    }
}
