package io.github.reactivelock.faults;

/** The fault matrix of one Redis through Lettuce. */
class LettuceMatrixTest extends RedisMatrix {

    LettuceMatrixTest() {
        super("");
    }

    @Override
    Store open() {
        return RedisStore.lettuce(WRITES_DOWN);
    }
}
