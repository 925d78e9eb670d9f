package com.example.old;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import java.time.Duration;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

@Configuration(proxyBeanMethods = false)
class LockConfiguration {

    @Bean(destroyMethod = "close")
    LockClient lockClient(@Value("${spring.data.redis.url}") String url) {
        return LockClient.builder(LettuceLockBackend.connect(url))
                .options(LockOptions.defaults().withWaitTimeout(Duration.ofSeconds(10)))
                .build();
    }
}
