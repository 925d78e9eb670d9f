package io.github.reactivelock.spring.boot;

import io.github.reactivelock.spring.WithLockBeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Switches on {@link io.github.reactivelock.spring.WithLock}. */
@AutoConfiguration
public final class WithLockAutoConfiguration {

    /** Made by Spring. */
    public WithLockAutoConfiguration() {}

    /** {@return what puts locks around annotated methods} */
    @Bean
    @ConditionalOnMissingBean
    static WithLockBeanPostProcessor withLockBeanPostProcessor() {
        return new WithLockBeanPostProcessor();
    }
}
