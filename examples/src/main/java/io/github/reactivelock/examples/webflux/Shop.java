package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** The parts of the service. Spring closes each lock client when the service ends. */
@SpringBootApplication(proxyBeanMethods = false)
final class Shop {

    @Bean(name = "till-1", destroyMethod = "close")
    Till firstTill(Settings settings, Shelf shelf, Board board) {
        return new Till("till-1", settings, shelf, board);
    }

    @Bean(name = "till-2", destroyMethod = "close")
    Till secondTill(Settings settings, Shelf shelf, Board board) {
        return new Till("till-2", settings, shelf, board);
    }

    @Bean(destroyMethod = "close")
    LockClient watcher(Settings settings) {
        return LockClient.builder(LettuceLockBackend.connect(settings.redis()))
                .name("board")
                .build();
    }
}
