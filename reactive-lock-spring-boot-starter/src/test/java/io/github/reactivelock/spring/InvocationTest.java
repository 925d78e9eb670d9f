package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.junit.jupiter.api.Test;
import org.springframework.aop.Advisor;
import org.springframework.aop.ProxyMethodInvocation;
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

    private static final String JOIN_POINT = "org.aspectj.lang.JoinPoint";

    static class Orders {
        @WithLock(name = "order", key = "#id")
        public Mono<Long> handle(long id, LockHandle held) {
            return Mono.just(held.fencingToken());
        }
    }

    static class Seen {
        final List<Long> tokens = new CopyOnWriteArrayList<>();
    }

    /** As the advice of AspectJ does before, after returning and after throwing: all of a call share a join point. */
    record Before(Seen seen) implements MethodInterceptor {
        @Override
        public Object invoke(MethodInvocation call) throws Throwable {
            var invocation = (ProxyMethodInvocation) ExposeInvocationInterceptor.currentInvocation();
            if (invocation.getUserAttribute(JOIN_POINT) == null) {
                invocation.setUserAttribute(JOIN_POINT, invocation.getArguments());
            }
            Object[] arguments = (Object[]) invocation.getUserAttribute(JOIN_POINT);
            seen.tokens.add(((LockHandle) arguments[1]).fencingToken());
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
            long token = context.getBean(Orders.class).handle(42, null).block();

            assertThat(context.getBean(Seen.class).tokens).containsExactly(token);
            close(context);
        }
    }

    @Test
    void eachSubscriptionHasAJoinPointOfItsOwnWhichShowsItsHold() {
        try (var context = Contexts.of(Aspects.class)) {
            Mono<Long> call = context.getBean(Orders.class).handle(42, null);
            long first = call.block();
            long second = call.block();

            assertThat(second).isGreaterThan(first);
            assertThat(context.getBean(Seen.class).tokens).containsExactly(first, second);
            close(context);
        }
    }

    private static void close(AnnotationConfigApplicationContext context) {
        context.getBean(LockClient.class).close().block();
    }
}
