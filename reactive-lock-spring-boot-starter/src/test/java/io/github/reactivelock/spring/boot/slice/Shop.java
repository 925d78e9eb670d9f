package io.github.reactivelock.spring.boot.slice;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spring.WithLock;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.stereotype.Service;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

/** An application as users have it, of which tests take parts. Its properties name a store that is not there. */
@SpringBootApplication
class Shop {

    @RestController
    static class Checkout {

        private final LockClient locks;

        Checkout(LockClient locks) {
            this.locks = locks;
        }

        @PostMapping("/by-client/{id}")
        Mono<String> byClient(@PathVariable long id) {
            return locks.withLock("order:" + id, held -> Mono.just("token " + held.fencingToken()));
        }

        @PostMapping("/by-annotation/{id}")
        @WithLock(name = "order", key = "#id", ifFree = true)
        public Mono<String> byAnnotation(@PathVariable long id) {
            return locks.inspect("order:" + id).map(info -> info.isHeld() ? "locked" : "not locked");
        }
    }

    @Service
    static class Orders {

        @WithLock(name = "order", key = "#id")
        public Mono<Long> pay(long id, LockHandle held) {
            return Mono.just(held.fencingToken());
        }
    }
}
