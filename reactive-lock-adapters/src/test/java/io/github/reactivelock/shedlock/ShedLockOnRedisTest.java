package io.github.reactivelock.shedlock;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.RedisServer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

class ShedLockOnRedisTest extends ShedLockContract {

    private static RedisServer server;

    @BeforeAll
    static void start() {
        server = RedisServer.start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /** What the test before left is not there. */
    @Override
    LockBackend backend() {
        Object unused = server.command("FLUSHALL");
        return LettuceLockBackend.connect(server.uri());
    }
}
