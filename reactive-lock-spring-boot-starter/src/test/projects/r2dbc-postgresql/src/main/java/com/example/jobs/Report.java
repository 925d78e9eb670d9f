package com.example.jobs;

import io.github.reactivelock.LockClient;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;
import reactor.core.publisher.Mono;

@Component
record Report(LockClient locks) {

    @Scheduled(fixedDelay = 100)
    Mono<Void> write() {
        return locks.tryWithLock("report", Mono.fromRunnable(() -> System.out.println("written")), Mono.empty());
    }
}
