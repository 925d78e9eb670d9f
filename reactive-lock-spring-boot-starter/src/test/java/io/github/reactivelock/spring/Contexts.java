package io.github.reactivelock.spring;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.memory.InMemoryLockBackend;
import java.util.HashMap;
import java.util.Map;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.MapPropertySource;

/** Contexts with locks in memory, as an application without Boot has them. */
final class Contexts {

    private Contexts() {}

    @Configuration(proxyBeanMethods = false)
    static class Locks {

        @Bean
        static WithLockBeanPostProcessor withLock() {
            return new WithLockBeanPostProcessor();
        }

        @Bean(destroyMethod = "")
        LockClient lockClient() {
            return LockClient.create(InMemoryLockBackend.create());
        }
    }

    static AnnotationConfigApplicationContext of(Class<?>... beans) {
        return of(Map.of(), beans);
    }

    static AnnotationConfigApplicationContext of(Map<String, String> properties, Class<?>... beans) {
        var context = new AnnotationConfigApplicationContext();
        context.getEnvironment()
                .getPropertySources()
                .addFirst(new MapPropertySource("test", new HashMap<>(properties)));
        context.register(Locks.class);
        context.register(beans);
        try {
            context.refresh();
        } catch (RuntimeException e) {
            context.close();
            throw e;
        }
        return context;
    }
}
