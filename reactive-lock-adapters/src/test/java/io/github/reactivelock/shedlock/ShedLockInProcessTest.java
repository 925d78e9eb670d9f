package io.github.reactivelock.shedlock;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;

class ShedLockInProcessTest extends ShedLockContract {

    @Override
    LockBackend backend() {
        return InMemoryLockBackend.create();
    }
}
