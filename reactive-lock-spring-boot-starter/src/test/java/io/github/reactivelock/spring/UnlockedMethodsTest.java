package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockHandle;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.context.annotation.ScopedProxyMode;
import org.springframework.core.PriorityOrdered;
import reactor.core.publisher.Mono;

/** A method whose annotation has no effect keeps the application from starting. */
class UnlockedMethodsTest {

    static class Orders {
        @WithLock(name = "order", key = "#id")
        public Mono<Long> pay(long id, LockHandle held) {
            return Mono.just(held.fencingToken());
        }
    }

    @Lazy
    static class LazyOrders extends Orders {}

    @Scope("prototype")
    static class PrototypeOrders extends Orders {}

    @Configuration(proxyBeanMethods = false)
    static class Made {
        @Bean
        Orders orders() {
            return new Orders();
        }
    }

    private static ConfigurableApplicationContext boot(Class<?>... sources) {
        return new SpringApplicationBuilder(sources)
                .web(WebApplicationType.NONE)
                .properties("spring.main.banner-mode=off")
                .run();
    }

    private static void refused(Class<?> source) {
        assertThatThrownBy(() -> boot(source))
                .hasMessageMatching(
                        "@WithLock on Orders\\.pay\\(long, LockHandle\\) of bean '.*rders': nothing in this context"
                                + " puts locks around methods; add @AutoConfigureReactiveLock to the test of a part .*");
    }

    @Test
    void aContextOfBootThatLocksNothingIsRefused() {
        refused(Orders.class);
        refused(Made.class);
        refused(LazyOrders.class);
        refused(PrototypeOrders.class);
    }

    static class Nothing {
        public Mono<Long> pay(long id) {
            return Mono.just(id);
        }
    }

    @Test
    void aContextWithoutTheAnnotationStarts() {
        try (var context = boot(Nothing.class)) {
            assertThat(context.getBean(Nothing.class)).isNotNull();
        }
    }

    private record Early(Orders needed) implements BeanPostProcessor, PriorityOrdered {

        @Override
        public int getOrder() {
            return 0;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class MadeForEarly {
        @Bean
        static Early early(Orders orders) {
            return new Early(orders);
        }
    }

    @Test
    void aBeanThatWasMadeTooEarlyIsRefused() {
        assertThatThrownBy(() -> boot(Contexts.Locks.class, Made.class, MadeForEarly.class))
                .hasMessageContaining("of bean 'orders': its bean was made before locks could be put around methods");
    }

    @Test
    void anObjectThatTheContainerDidNotMakeIsRefused() {
        SpringApplicationBuilder application = new SpringApplicationBuilder(Contexts.Locks.class)
                .web(WebApplicationType.NONE)
                .initializers(context -> context.getBeanFactory().registerSingleton("byHand", new Orders()));

        assertThatThrownBy(application::run)
                .hasMessageContaining("of bean 'byHand': its bean was given to the container as an object");
    }

    @Configuration(proxyBeanMethods = false)
    static class Scoped {
        @Bean
        @Scope(value = "prototype", proxyMode = ScopedProxyMode.TARGET_CLASS)
        Orders orders() {
            return new Orders();
        }
    }

    @Test
    void scopedLazyAndRepeatedBeansAreLockedAndNotRefused() {
        try (var context = boot(Contexts.Locks.class, Scoped.class, LazyOrders.class, PrototypeOrders.class)) {
            for (String name : context.getBeanNamesForType(Orders.class)) {
                Orders orders = context.getBean(name, Orders.class);
                assertThat(orders.pay(1, null).block()).as(name).isPositive();
            }
        }
    }
}
