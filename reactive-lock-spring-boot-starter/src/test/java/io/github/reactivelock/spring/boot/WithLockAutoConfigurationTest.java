package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spring.WithLock;
import io.github.reactivelock.spring.WithLockBeanPostProcessor;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

class WithLockAutoConfigurationTest {

    private final ApplicationContextRunner runner = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(WithLockAutoConfiguration.class, AopAutoConfiguration.class))
            .withUserConfiguration(Application.class);

    interface Other {
        default void other() {}
    }

    static class Job implements Other {

        private final LockClient client;

        Job(LockClient client) {
            this.client = client;
        }

        @WithLock(name = "job")
        public Mono<Boolean> isLocked() {
            return client.inspect("job").map(info -> info.isHeld());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Application {

        @Bean(destroyMethod = "")
        LockClient lockClient() {
            return LockClient.create(InMemoryLockBackend.create());
        }

        @Bean
        Job job(LockClient client) {
            return new Job(client);
        }
    }

    @Test
    void annotatedMethodsAreLockedAndBeansAreProxiedAsBootProxiesThem() {
        runner.run(context -> {
            assertThat(context.getBean(Job.class).isLocked().block()).isTrue();
            assertThat(AopUtils.isCglibProxy(context.getBean(Job.class))).isTrue();
        });
    }

    @Test
    void proxiesByInterfaceAreTheApplicationsChoiceAndItsMistakeIsSaid() {
        runner.withPropertyValues("spring.aop.proxy-target-class=false")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasMessageContaining("its bean is proxied by its interfaces, and none of them has it"));
    }

    @Configuration(proxyBeanMethods = false)
    static class Own {

        @Bean
        static WithLockBeanPostProcessor own() {
            return new WithLockBeanPostProcessor();
        }
    }

    @Test
    void onesOwnPostProcessorComesFirst() {
        runner.withUserConfiguration(Own.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(WithLockBeanPostProcessor.class)
                        .hasBean("own"));
    }
}
