package io.github.reactivelock.spring.boot.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.spring.boot.AutoConfigureReactiveLock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** A test of some classes, which has no auto-configuration but what it names. */
@SpringBootTest(
        classes = Shop.Orders.class,
        webEnvironment = SpringBootTest.WebEnvironment.NONE,
        properties = "reactive-lock.store=redis")
@AutoConfigureReactiveLock
class PartOfTheApplicationTest {

    @Autowired
    private Shop.Orders orders;

    @Test
    void anAnnotatedMethodGetsItsHold() {
        assertThat(orders.pay(42, null).block()).isPositive();
    }
}
