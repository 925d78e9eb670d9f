package io.github.reactivelock.spring;

import java.lang.reflect.Method;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;
import org.springframework.aop.Advisor;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.aop.framework.AopInfrastructureBean;
import org.springframework.aop.framework.autoproxy.AbstractBeanFactoryAwareAdvisingPostProcessor;
import org.springframework.aop.support.AopUtils;
import org.springframework.aop.support.DefaultPointcutAdvisor;
import org.springframework.aop.support.annotation.AnnotationMatchingPointcut;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.AnnotationAwareOrderComparator;
import org.springframework.util.ClassUtils;

/**
 * Puts the locks of {@link WithLock} around the methods of beans, and refuses methods that cannot be locked, when the
 * bean is created. Spring Boot has it by auto-configuration. Elsewhere, declare it by a static {@code @Bean} method; it
 * needs a {@link io.github.reactivelock.LockClient} bean.
 *
 * <p>The lock comes before the transaction, and before every other aspect without an order of its own. Aspects that
 * have an order, as those of Spring Security do, come before the lock.
 */
public final class WithLockBeanPostProcessor extends AbstractBeanFactoryAwareAdvisingPostProcessor {

    private static final long serialVersionUID = 1;
    private static final boolean TRANSACTIONS_PRESENT = ClassUtils.isPresent(
            "org.springframework.transaction.interceptor.TransactionAspectSupport",
            WithLockBeanPostProcessor.class.getClassLoader());

    private final transient LockedMethods methods = new LockedMethods();
    private final transient DefaultPointcutAdvisor locks =
            new DefaultPointcutAdvisor(new AnnotationMatchingPointcut(null, WithLock.class, true), methods);

    private final transient Set<String> locked = ConcurrentHashMap.newKeySet();
    private transient volatile boolean started;

    /** For a bean definition. The container sets the bean factory. */
    public WithLockBeanPostProcessor() {
        // Behind the advisors that have an order, before those without.
        locks.setOrder(Ordered.LOWEST_PRECEDENCE - 1);
        this.advisor = locks;
        // Before those of @Scheduled and @Retryable: one schedules the bean as it is then, one retries with a lock a
        // try.
        this.setOrder(Ordered.LOWEST_PRECEDENCE - 1);
    }

    @Override
    public void setBeanFactory(BeanFactory beanFactory) {
        super.setBeanFactory(beanFactory);
        methods.setBeanFactory(beanFactory);
    }

    /** The beans with locks that were made at start; later ones are not remembered. */
    Set<String> lockedAtStart() {
        started = true;
        Set<String> names = Set.copyOf(locked);
        locked.clear();
        return names;
    }

    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        Class<?> target = AopUtils.getTargetClass(bean);
        if (bean instanceof AopInfrastructureBean || declaring(bean, target).noneMatch(this::isEligible)) {
            return bean;
        }
        List<Method> annotated = declaring(bean, target)
                .flatMap(type -> LockedMethods.declaredBy(type, target))
                .distinct()
                .toList();
        annotated.forEach(method -> methods.add(method, target, beanName));
        Object proxy = bean instanceof Advised own && !own.isFrozen() ? inserted(own) : proxied(bean, beanName);
        annotated.forEach(method -> LockedMethodReader.checkReachable(method, target, proxy.getClass(), beanName));
        if (!started) {
            locked.add(beanName);
        }
        return proxy;
    }

    /**
     * Where a bean's methods may have the annotation: an interface counts without the class, as of a Spring Data
     * repository.
     */
    private static Stream<Class<?>> declaring(Object bean, Class<?> target) {
        return bean instanceof Advised proxy
                ? Stream.concat(Stream.of(target), Stream.of(proxy.getProxiedInterfaces()))
                : Stream.of(target);
    }

    private Object proxied(Object bean, String beanName) {
        try {
            return super.postProcessAfterInitialization(bean, beanName);
        } catch (AopConfigException e) {
            throw new RefusedMethodException(
                    "@WithLock needs a proxy of bean '" + beanName + "', ",
                    "and its " + bean.getClass() + " cannot have a subclass; make the class neither final nor private",
                    e);
        }
    }

    private Object inserted(Advised proxy) {
        Advisor[] others = proxy.getAdvisors();
        int place = 0;
        while (place < others.length && comesBefore(others[place])) {
            place++;
        }
        proxy.addAdvisor(place, locks);
        return proxy;
    }

    private boolean comesBefore(Advisor other) {
        return !(TRANSACTIONS_PRESENT && Transactions.startsOne(other))
                && AnnotationAwareOrderComparator.INSTANCE.compare(other, locks) < 0;
    }

    /** Apart, because Spring's transactions need not be there. */
    private static final class Transactions {

        static boolean startsOne(Advisor advisor) {
            return advisor.getAdvice() instanceof org.springframework.transaction.interceptor.TransactionAspectSupport;
        }
    }
}
