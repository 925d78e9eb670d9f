package io.github.reactivelock.faults;

/** The fault matrix of one Redis 6.2, the oldest that is supported, through Lettuce. */
class OldestRedisMatrixTest extends RedisMatrix {

    OldestRedisMatrixTest() {
        super("");
    }

    @Override
    Store open() {
        return RedisStore.oldest(WRITES_DOWN);
    }
}
