package io.github.reactivelock.spring.boot.slice;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
import org.springframework.test.context.bean.override.mockito.MockitoBean;
import org.springframework.test.web.reactive.server.WebTestClient;

/** The test of a slice has a client and the annotation, in the memory of its process. */
@WebFluxTest(properties = "reactive-lock.url=redis://nowhere.invalid")
class WebSliceTest {

    @Autowired
    private WebTestClient web;

    @Autowired
    private LockClient locks;

    @Autowired
    private LockBackend store;

    /** A mock of a bean with locked methods says nothing of locks. */
    @MockitoBean
    @SuppressWarnings("unused")
    private Shop.Orders orders;

    private String answer(String path) {
        return web.post()
                .uri(path)
                .exchange()
                .expectStatus()
                .isOk()
                .returnResult(String.class)
                .getResponseBody()
                .blockFirst();
    }

    @Test
    void aControllerHasItsClient() {
        assertThat(answer("/by-client/1")).startsWith("token ");
        assertThat(store).isInstanceOf(InMemoryLockBackend.class);
    }

    @Test
    void anAnnotatedMethodOfAControllerIsLocked() {
        assertThat(answer("/by-annotation/2")).isEqualTo("locked");
    }

    @Test
    void aLockThatTheTestHoldsIsBusy() {
        var held = locks.acquire("order:3").block();

        assertThat(answer("/by-annotation/3")).isNull();
        held.release().block();
        assertThat(answer("/by-annotation/3")).isEqualTo("locked");
    }
}
