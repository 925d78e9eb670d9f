package io.github.reactivelock.spring.boot;

import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/** Has lock errors become problem details over HTTP, with WebFlux and with MVC. */
@AutoConfiguration
@ConditionalOnWebApplication
@ConditionalOnClass(RestControllerAdvice.class)
@ConditionalOnBooleanProperty(name = "reactive-lock.problemdetails.enabled", matchIfMissing = true)
public final class LockProblemsAutoConfiguration {

    /** Made by Spring. */
    public LockProblemsAutoConfiguration() {}

    @Bean
    LockProblems lockProblems() {
        return new LockProblems();
    }
}
