package io.github.reactivelock.testkit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;

class InMemoryLockBackendContractTest extends LockBackendContract {

    private final InMemoryLockBackend store = InMemoryLockBackend.create();

    @Override
    protected LockBackend newBackend() {
        return store.connect();
    }

    @Override
    protected int cancelRaces() {
        return 10_000;
    }

    @Override
    protected int shareSteps() {
        return 5_000;
    }

    @Override
    protected void assertStoreIsClean() {
        assertThat(store.size()).isZero();
    }
}
