package io.github.reactivelock.redis;

import org.jspecify.annotations.NullMarked;
import reactor.core.scheduler.Scheduler;

/** A backend over a simulated Redis, in a time of its own. */
@NullMarked
public final class SimulatedRedis extends RedisLockBackend {

    /**
     * Makes one.
     *
     * @param connection to the server
     * @param timer where watchers of a lock look again
     */
    public SimulatedRedis(RedisConnection connection, Scheduler timer) {
        super(connection, RedisBackendOptions.defaults(), timer);
    }
}
