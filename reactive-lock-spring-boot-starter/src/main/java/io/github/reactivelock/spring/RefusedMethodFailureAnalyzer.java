package io.github.reactivelock.spring;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;

/** Says at start-up which annotated method cannot be locked and what to do, where there is Spring Boot. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class RefusedMethodFailureAnalyzer extends AbstractFailureAnalyzer<RefusedMethodException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, RefusedMethodException cause) {
        return new FailureAnalysis(cause.problem(), cause.action(), cause);
    }
}
