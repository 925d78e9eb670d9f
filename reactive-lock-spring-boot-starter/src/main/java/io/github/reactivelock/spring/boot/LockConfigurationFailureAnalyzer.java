package io.github.reactivelock.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/**
 * Says at start-up what is wrong and what to do, in place of a stack trace. Comes before those of Spring Boot, which
 * explain the beans among the causes.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
    }
}
