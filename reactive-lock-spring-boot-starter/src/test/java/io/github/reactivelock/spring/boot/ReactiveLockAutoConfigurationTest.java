package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

class ReactiveLockAutoConfigurationTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(ReactiveLockAutoConfiguration.class));

    @Test
    void anApplicationWithoutAStoreIsToldSo() {
        runner.run(context -> assertThat(context).getFailure().rootCause().hasMessageContaining("no store for locks"));
    }
}
