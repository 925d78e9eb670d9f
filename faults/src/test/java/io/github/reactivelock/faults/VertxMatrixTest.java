package io.github.reactivelock.faults;

/** The fault matrix of one Redis through the Vert.x client. */
class VertxMatrixTest extends RedisMatrix {

    VertxMatrixTest() {
        super("vertx:");
    }

    @Override
    Store open() {
        return RedisStore.vertx(WRITES_DOWN);
    }
}
