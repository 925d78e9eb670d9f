package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;

/** When requests with an idempotency key are carried out once, and when the start is refused. */
class IdempotencyConditionsTest {

    private static final AutoConfigurations STARTER =
            AutoConfigurations.of(ReactiveLockAutoConfiguration.class, IdempotencyAutoConfiguration.class);
    private static final String ON = "reactive-lock.idempotency.enabled=true";
    private static final String MEMORY = "reactive-lock.store=memory";

    private static ReactiveWebApplicationContextRunner webFlux(String... properties) {
        return new ReactiveWebApplicationContextRunner()
                .withConfiguration(STARTER)
                .withConfiguration(AutoConfigurations.of(R2dbcAutoConfiguration.class))
                .withPropertyValues(MEMORY, "spring.r2dbc.url=r2dbc:h2:mem:///conditions")
                .withPropertyValues(properties);
    }

    @Test
    void itIsOffUnlessAskedFor() {
        webFlux()
                .run(context -> assertThat(context)
                        .doesNotHaveBean(IdempotencyFilter.class)
                        .doesNotHaveBean("idempotencyOnce"));
        webFlux(ON).run(context -> assertThat(context).hasSingleBean(IdempotencyFilter.class));
    }

    @Test
    void itNeedsNoMicrometer() {
        webFlux(ON)
                .withClassLoader(new FilteredClassLoader("io.micrometer"))
                .run(context -> assertThat(context)
                        .hasSingleBean(IdempotencyFilter.class)
                        .doesNotHaveBean("idempotencyMeters"));
    }

    @Test
    void withoutADatabaseTheStartIsRefused() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(STARTER)
                .withPropertyValues(MEMORY, ON)
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getDescription())
                        .contains("needs a database over R2DBC"));
    }

    @Test
    void onServletsTheStartIsRefusedAndWithoutAWebNothingHappens() {
        new WebApplicationContextRunner()
                .withConfiguration(STARTER)
                .withPropertyValues(MEMORY, ON)
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getDescription())
                        .contains("needs WebFlux"));
        new ApplicationContextRunner()
                .withConfiguration(STARTER)
                .withPropertyValues(MEMORY, ON)
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(IdempotencyFilter.class));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "ttl=0s",
                "max-key-length=0",
                "max-key-length=5000",
                "max-request-size=2GB",
                "max-response-size=-1B",
                "header=a b"
            })
    void aPropertyThatCannotBeIsNamed(String property) {
        webFlux(ON, "reactive-lock.idempotency." + property)
                .run(context -> assertThat(
                                Contexts.analysis(context.getStartupFailure()).getDescription())
                        .contains("reactive-lock.idempotency." + property.replaceAll("=.*", "")));
    }
}
