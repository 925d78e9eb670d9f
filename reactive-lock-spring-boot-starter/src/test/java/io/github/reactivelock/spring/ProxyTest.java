package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.spring.boot.OfAnotherPackage;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.scope.ScopedProxyUtils;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.BeanDefinitionHolder;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.resilience.annotation.EnableResilientMethods;
import org.springframework.resilience.annotation.Retryable;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import reactor.core.publisher.Mono;

/** Which beans and methods have their locks, and what comes before and behind a lock. */
class ProxyTest {

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @WithLock(name = "order", key = "#id")
    @interface OrderLock {}

    interface Handler<T> {
        Mono<String> handle(T id, LockHandle held);
    }

    static class OfAnAnnotationOfOnesOwn implements Handler<Long> {
        @Override
        @OrderLock
        public Mono<String> handle(Long id, LockHandle held) {
            return Mono.just(held.key());
        }
    }

    static class Inheriting extends OfAnAnnotationOfOnesOwn {}

    interface OfItsInterface {
        @OrderLock
        Mono<String> handle(Long id, LockHandle held);
    }

    static class Implementing implements OfItsInterface {
        @Override
        public Mono<String> handle(Long id, LockHandle held) {
            return Mono.just(held.key());
        }
    }

    @Test
    @SuppressWarnings("unchecked")
    void metaAnnotationsAndMethodsOfAGenericInterfaceAreFound() {
        try (var context = Contexts.of(OfAnAnnotationOfOnesOwn.class)) {
            Handler<Long> handler = context.getBean(Handler.class);

            assertThat(AopUtils.isJdkDynamicProxy(handler)).isTrue();
            assertThat(handler.handle(42L, null).block()).isEqualTo("order:42");
            close(context);
        }
    }

    @Test
    void theAnnotationMayStandOnAnInterfaceAndOnASuperclass() {
        try (var context = Contexts.of(Implementing.class)) {
            assertThat(context.getBean(OfItsInterface.class).handle(42L, null).block())
                    .isEqualTo("order:42");
            close(context);
        }
        try (var context = Contexts.of(Inheriting.class)) {
            assertThat(((Handler<?>) context.getBean(Handler.class)).toString()).contains("Inheriting");
            close(context);
        }
    }

    static class BelowOpened extends OfAnotherPackage.Opened {}

    @Test
    void aMethodWithoutModifierIsLockedWhereItsPackageOpenedIt() {
        try (var context = Contexts.of(BelowOpened.class)) {
            assertThat(OfAnotherPackage.call(context.getBean(BelowOpened.class)).block())
                    .isEqualTo("order[set by the constructor]");
            close(context);
        }
    }

    @Test
    void aPublicMethodOfAClassThatIsNotPublicIsLocked() {
        try (var context = Contexts.of(OfAnotherPackage.Shown.class)) {
            assertThat(context.getBean(OfAnotherPackage.Shown.class).work(null).block())
                    .isEqualTo("order");
            close(context);
        }
    }

    /** As repositories of Spring Data are: no class has the methods of the interface. */
    @Configuration(proxyBeanMethods = false)
    static class Repository {
        @Bean
        OfItsInterface repository() {
            ProxyFactory factory = new ProxyFactory(new Steps());
            factory.setInterfaces(OfItsInterface.class);
            factory.addAdvice((MethodInterceptor) call -> Mono.just(((LockHandle) call.getArguments()[1]).key()));
            return (OfItsInterface) factory.getProxy();
        }
    }

    @Test
    void aMethodThatOnlyAnInterfaceHasIsLocked() {
        try (var context = Contexts.of(Repository.class)) {
            assertThat(context.getBean(OfItsInterface.class).handle(42L, null).block())
                    .isEqualTo("order:42");
            close(context);
        }
    }

    @Test
    void theTargetOfAScopedProxyIsLockedOnce() {
        try (var context = new AnnotationConfigApplicationContext(Contexts.Locks.class)) {
            RootBeanDefinition target = new RootBeanDefinition(Implementing.class);
            target.setScope(BeanDefinition.SCOPE_PROTOTYPE);
            BeanDefinitionHolder proxy =
                    ScopedProxyUtils.createScopedProxy(new BeanDefinitionHolder(target, "scoped"), context, true);
            context.registerBeanDefinition("scoped", proxy.getBeanDefinition());
            OfItsInterface scoped = context.getBean("scoped", OfItsInterface.class);

            assertThat(scoped.handle(42L, null).block()).isEqualTo("order:42");
            assertThat(scoped.handle(43L, null).block()).isEqualTo("order:43");
            close(context);
        }
    }

    static class Steps {
        final List<String> all = new CopyOnWriteArrayList<>();
    }

    static class Retrying {

        private final AtomicInteger calls = new AtomicInteger();
        private final LockClient client;

        Retrying(LockClient client) {
            this.client = client;
        }

        /** The fencing tokens of its holds tell that each try had one of its own. */
        @Retryable(maxRetries = 2, delay = 1)
        @WithLock(name = "order")
        public Mono<Long> third(LockHandle held) {
            return calls.incrementAndGet() < 3
                    ? Mono.error(new IllegalStateException("not yet"))
                    : Mono.just(held.fencingToken());
        }

        public Mono<Long> token() {
            return client.withLock("order", held -> Mono.just(held.fencingToken()));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableResilientMethods
    static class Resilient {}

    @Test
    void eachTryOfARetryableMethodTakesTheLockAnew() {
        try (var context = Contexts.of(Retrying.class, Resilient.class)) {
            Retrying retrying = context.getBean(Retrying.class);
            long before = retrying.token().block();
            long third = retrying.third(null).block();

            assertThat(third - before).isGreaterThanOrEqualTo(3);
            close(context);
        }
    }

    @Target(ElementType.METHOD)
    @Retention(RetentionPolicy.RUNTIME)
    @interface Watched {}

    /** Notes whether the lock is held when what it is around is subscribed to. */
    record Watcher(LockClient client, List<String> steps, String name) implements MethodInterceptor {
        @Override
        public Object invoke(MethodInvocation call) throws Throwable {
            Mono<?> work = (Mono<?>) call.proceed();
            return client.inspect("order")
                    .doOnNext(lock -> steps.add(name + (lock.isHeld() ? " under the lock" : " before it")))
                    .then(Mono.from(work));
        }
    }

    static class Ordered {
        @Watched
        @WithLock(name = "order")
        public Mono<Void> work() {
            return Mono.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    @EnableTransactionManagement
    static class Watchers {

        @Bean
        static Steps steps() {
            return new Steps();
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor first(LockClient client, Steps steps) {
            return advisor(client, steps, "first", 100);
        }

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static Advisor any(LockClient client, Steps steps) {
            return advisor(client, steps, "any", org.springframework.core.Ordered.LOWEST_PRECEDENCE);
        }

        private static Advisor advisor(LockClient client, Steps steps, String name, int order) {
            var advisor = new DefaultPointcutAdvisor(
                    new AnnotationMatchingPointcut(null, Watched.class, true), new Watcher(client, steps.all, name));
            advisor.setOrder(order);
            return advisor;
        }
    }

    @Test
    void aspectsWithAnOrderComeBeforeTheLockAndOthersBehindIt() {
        try (var context = Contexts.of(Watchers.class, Ordered.class)) {
            context.getBean(Ordered.class).work().block();

            assertThat(context.getBean(Steps.class).all).containsExactly("first before it", "any under the lock");
            close(context);
        }
    }

    private static void close(AnnotationConfigApplicationContext context) {
        context.getBean(LockClient.class).close().block();
    }
}
