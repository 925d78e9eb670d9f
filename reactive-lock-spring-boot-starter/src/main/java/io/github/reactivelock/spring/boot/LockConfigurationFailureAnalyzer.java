package io.github.reactivelock.spring.boot;

import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says at start-up what is wrong and what to do, in place of a stack trace. */
final class LockConfigurationFailureAnalyzer extends AbstractFailureAnalyzer<LockConfigurationException> {

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
        return new FailureAnalysis(cause.getMessage(), cause.action(), cause);
    }
}
