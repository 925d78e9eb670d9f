package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.NameMatchMethodPointcut;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** The advice behind a lock runs later than the call and on another thread, where Spring keeps nothing of the call. */
class InvocationTest {

    static class Orders {
        @WithLock(name = "order", key = "#id")
        public Mono<String> handle(long id) {
            return Mono.just("order " + id);
        }
    }

    static class Seen {
        final List<Object> arguments = new CopyOnWriteArrayList<>();
    }

    /** As the advice of an aspect does that is neither around nor ordered: AspectJ's before, after returning and throwing. */
    record Before(Seen seen) implements MethodInterceptor {
        @Override
        public Object invoke(MethodInvocation call) throws Throwable {
            seen.arguments.add(ExposeInvocationInterceptor.currentInvocation().getArguments()[0]);
            return call.proceed();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Aspects {

        @Bean
        static Seen seen() {
            return new Seen();
        }

        @Bean
        static Orders orders(Seen seen) {
            ProxyFactory factory = new ProxyFactory(new Orders());
            factory.addAdvisor(ExposeInvocationInterceptor.ADVISOR);
            var pointcut = new NameMatchMethodPointcut();
            pointcut.addMethodName("handle");
            Advisor before = new DefaultPointcutAdvisor(pointcut, new Before(seen));
            factory.addAdvisor(before);
            return (Orders) factory.getProxy();
        }
    }

    @Test
    void anAspectBehindTheLockFindsTheInvocationThatItIsIn() {
        try (var context = Contexts.of(Aspects.class)) {
            Mono<String> call = context.getBean(Orders.class).handle(42);

            assertThat(call.block()).isEqualTo("order 42");
            assertThat(call.block()).isEqualTo("order 42");
            assertThat(context.getBean(Seen.class).arguments).containsExactly(42L, 42L);
            close(context);
        }
    }

    private static void close(AnnotationConfigApplicationContext context) {
        context.getBean(LockClient.class).close().block();
    }
}
