package io.github.reactivelock.spring.boot.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spring.boot.AutoConfigureReactiveLock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** A test of the whole application whose locks shall need no store, whatever the properties name. */
@SpringBootTest(
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = "reactive-lock.url=redis://nowhere.invalid")
@AutoConfigureReactiveLock
class WholeApplicationTest {

    @Autowired
    private Shop.Orders orders;

    @Autowired
    private LockBackend store;

    @Test
    void theLocksAreInTheMemoryOfTheProcess() {
        assertThat(orders.pay(42, null).block()).isPositive();
        assertThat(store).isInstanceOf(InMemoryLockBackend.class);
    }
}
