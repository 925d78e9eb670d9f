package io.github.reactivelock.spring;

import java.util.Arrays;
import java.util.Collection;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.core.annotation.AnnotationUtils;

/**
 * Sees every bean that the container makes, from the first on, and refuses those that have annotated methods and were
 * not locked: their work would run without a lock, and a parameter for the hold would stay null. What a test puts in
 * the place of a bean is no matter of its own.
 */
final class UnlockedMethods implements BeanPostProcessor {

    private static final String NOTHING_LOCKS =
            "nothing in this context puts locks around methods; add @AutoConfigureReactiveLock to the test of a part of the"
                    + " application, and elsewhere do not leave WithLockAutoConfiguration out, since reactive-lock.store=memory"
                    + " needs no server";
    private static final String TOO_EARLY =
            "its bean was made before locks could be put around methods; let no BeanPostProcessor need it, and make those by"
                    + " static @Bean methods";
    private static final String BY_HAND =
            "its bean was given to the container as an object, so no proxy sees its calls; give it the class or a @Bean"
                    + " method";

    private final DefaultListableBeanFactory beans;
    private final Map<String, Class<?>> made = new ConcurrentHashMap<>();
    private volatile boolean looked;

    UnlockedMethods(DefaultListableBeanFactory beans) {
        this.beans = beans;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        if (!looked && !(bean instanceof AopInfrastructureBean)) {
            made.put(beanName, AopUtils.getTargetClass(bean));
        }
        return bean;
    }

    /** When all beans are made that are made at start. Later ones are locked if there is what locks them. */
    void look() {
        looked = true;
        Collection<WithLockBeanPostProcessor> locking = beans.getBeansOfType(
                        WithLockBeanPostProcessor.class, true, false)
                .values();
        Set<String> locked =
                locking.stream().flatMap(one -> one.lockedAtStart().stream()).collect(Collectors.toSet());
        if (locking.isEmpty()) {
            Arrays.stream(beans.getBeanDefinitionNames())
                    .filter(name -> !beans.containsSingleton(name))
                    .forEach(name -> check(name, declared(name), NOTHING_LOCKS));
        }
        made.forEach((name, type) -> {
            if (!locked.contains(name)) {
                check(name, type, locking.isEmpty() ? NOTHING_LOCKS : TOO_EARLY);
            }
        });
        Arrays.stream(beans.getSingletonNames())
                .filter(name -> !made.containsKey(name) && !beans.containsBeanDefinition(name))
                .forEach(name -> check(name, byHand(name), BY_HAND));
        made.clear();
    }

    private @Nullable Class<?> declared(String name) {
        return beans.getMergedBeanDefinition(name).isAbstract() ? null : beans.getType(name, false);
    }

    private @Nullable Class<?> byHand(String name) {
        Object bean = Objects.requireNonNull(beans.getSingleton(name), "a singleton");
        return bean instanceof AopInfrastructureBean ? null : AopUtils.getTargetClass(bean);
    }

    private static void check(String name, @Nullable Class<?> type, String why) {
        if (type != null && AnnotationUtils.isCandidateClass(type, WithLock.class)) {
            LockedMethods.declaredBy(type, type).findFirst().ifPresent(method -> {
                throw LockedMethodReader.refused(method, name, new IllegalArgumentException(why));
            });
        }
    }
}
