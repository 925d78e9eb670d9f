package com.example.shop;

import io.github.reactivelock.LockClient;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;

@RestController
record Orders(LockClient locks) {

    @PostMapping("/orders/{id}/pay")
    Mono<String> pay(@PathVariable("id") String id) {
        return locks.withLock("order:" + id, held -> Mono.just("paid under token " + held.fencingToken()));
    }
}
