package io.github.reactivelock.spring.boot;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Keeps the locks of a test in the memory of its process, with any store in the properties. */
@AutoConfiguration(before = ReactiveLockAutoConfiguration.class)
final class MemoryLocksAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean({LockBackend.class, LockClient.class})
    InMemoryLockBackend lockBackend() {
        return InMemoryLockBackend.create();
    }
}
