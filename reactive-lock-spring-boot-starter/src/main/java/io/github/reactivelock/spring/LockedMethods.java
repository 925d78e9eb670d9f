package io.github.reactivelock.spring;

import java.lang.reflect.Method;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.MethodClassKey;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.annotation.AnnotatedElementUtils;

/**
 * The methods that run under locks, each read when the first bean that has it is created, and the advice around them.
 */
final class LockedMethods implements MethodInterceptor {

    private final Map<MethodClassKey, LockedMethod> methods = new ConcurrentHashMap<>();
    private @Nullable LockedMethodReader reader;

    void setBeanFactory(BeanFactory beans) {
        reader = new LockedMethodReader((ConfigurableListableBeanFactory) beans);
    }

    /** The annotated methods that a type declares, as they are called on a target. */
    static Stream<Method> declaredBy(Class<?> type, Class<?> target) {
        return MethodIntrospector.selectMethods(type, (Method method) -> annotation(method) != null).stream()
                .map(method -> AopUtils.getMostSpecificMethod(method, target));
    }

    /** Reads a method's annotation, and refuses what cannot be locked. */
    void add(Method method, Class<?> target, String beanName) {
        LockedMethodReader reading = Objects.requireNonNull(reader, "the container sets the bean factory first");
        MethodClassKey key = new MethodClassKey(method, target);
        // Not computeIfAbsent: reading makes the client's bean, and what that needs may have locked methods.
        if (!methods.containsKey(key)) {
            WithLock annotation = Objects.requireNonNull(annotation(method), "annotated");
            methods.put(key, reading.read(annotation, method, beanName));
        }
    }

    private static @Nullable WithLock annotation(Method method) {
        return AnnotatedElementUtils.findMergedAnnotation(method, WithLock.class);
    }

    @Override
    public Object invoke(MethodInvocation invocation) {
        Object target = invocation.getThis();
        Class<?> type = target == null ? invocation.getMethod().getDeclaringClass() : AopUtils.getTargetClass(target);
        Method method = AopUtils.getMostSpecificMethod(invocation.getMethod(), type);
        LockedMethod locked = methods.get(new MethodClassKey(method, type));
        if (locked == null) {
            throw new IllegalStateException(
                    "no bean with the locked method " + method + " was seen; do not call it on " + type);
        }
        return locked.call((ProxyMethodInvocation) invocation);
    }
}
