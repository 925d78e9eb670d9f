package io.github.reactivelock.spring;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockOptions;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.BeanNotOfRequiredTypeException;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.core.KotlinDetector;
import org.springframework.format.datetime.standard.DurationFormatterUtils;
import org.springframework.util.ClassUtils;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Makes locked methods of annotated ones, and refuses what cannot be locked with a sentence that says what to do. */
final class LockedMethodReader {

    private static final boolean COROUTINES_PRESENT = ClassUtils.isPresent(
            "io.github.reactivelock.kotlin.CoroutineLockClient", LockedMethodReader.class.getClassLoader());

    private final ConfigurableListableBeanFactory beans;

    LockedMethodReader(ConfigurableListableBeanFactory beans) {
        this.beans = beans;
    }

    LockedMethod read(WithLock annotation, Method method, String beanName) {
        try {
            LockedMethod.Kind kind = kind(method, annotation.ifFree());
            HandleParameter handle = HandleParameter.of(method);
            LockKey key = new LockKey(resolved(annotation.name()), resolved(annotation.key()), method, beans);
            LockClient named = client(resolved(annotation.client()));
            LockClient client = sharing(annotation, with(named, options(annotation, named.options())));
            return new LockedMethod(
                    nameOf(method),
                    kind,
                    client,
                    annotation.ifFree(),
                    key,
                    handle,
                    new CallersTransaction(nameOf(method)));
        } catch (IllegalArgumentException e) {
            throw refused(method, beanName, e);
        }
    }

    /** Refuses a method that a call of the proxy does not reach. */
    static void checkReachable(Method method, Class<?> target, Class<?> proxy, String beanName) {
        int modifiers = method.getModifiers();
        String why = "";
        if (Modifier.isPrivate(modifiers) || Modifier.isStatic(modifiers)) {
            why = "it is " + (Modifier.isStatic(modifiers) ? "static" : "private") + ", so no proxy sees its calls;"
                    + " make it a method that other beans call";
        } else if (Proxy.isProxyClass(proxy) && !isOfInterface(method, target, proxy)) {
            why = "its bean is proxied by its interfaces, and none of them has it;"
                    + " declare it there, or set spring.aop.proxy-target-class=true";
        } else if (!Proxy.isProxyClass(proxy) && Modifier.isFinal(modifiers)) {
            why =
                    "it is final, so no proxy can lock it; take that away, in Kotlin with open or the plugin kotlin-spring";
        } else if (!Proxy.isProxyClass(proxy) && !isOverridden(method, proxy)) {
            why = "it has no modifier and is of another package or class loader than its bean's " + target.getName()
                    + ", so a proxy of that cannot override it; make it public or protected";
        }
        if (!why.isEmpty()) {
            throw refused(method, beanName, new IllegalArgumentException(why));
        }
    }

    /** Java's rule for a method without a modifier: from its own package only, or through an override from there. */
    private static boolean isOverridden(Method method, Class<?> proxy) {
        Class<?> declaring = method.getDeclaringClass();
        boolean isSeenByAll = Modifier.isPublic(method.getModifiers()) || Modifier.isProtected(method.getModifiers());
        boolean overridden = isSeenByAll || isOfOnePackage(proxy, declaring);
        for (Class<?> type = proxy.getSuperclass(); !overridden && type != declaring && type != null; ) {
            Method own = ClassUtils.getMethodIfAvailable(type, method.getName(), method.getParameterTypes());
            overridden = own != null && isOfOnePackage(own.getDeclaringClass(), declaring);
            type = type.getSuperclass();
        }
        return overridden;
    }

    private static boolean isOfOnePackage(Class<?> one, Class<?> other) {
        return one.getPackageName().equals(other.getPackageName()) && one.getClassLoader() == other.getClassLoader();
    }

    private static boolean isOfInterface(Method method, Class<?> target, Class<?> proxy) {
        return Arrays.stream(proxy.getInterfaces())
                .flatMap(type -> Arrays.stream(type.getMethods()))
                .anyMatch(candidate -> candidate.getName().equals(method.getName())
                        && AopUtils.getMostSpecificMethod(candidate, target).equals(method));
    }

    private static LockedMethod.Kind kind(Method method, boolean ifFree) {
        Class<?> type = method.getReturnType();
        if (KotlinDetector.isSuspendingFunction(method)) {
            if (!COROUTINES_PRESENT) {
                throw new IllegalArgumentException(
                        "it is a suspend function, which needs reactive-lock-kotlin; add that as a dependency");
            }
            SuspendedCall.check(method, ifFree);
            return LockedMethod.Kind.SUSPEND;
        }
        if (type == Mono.class) {
            return LockedMethod.Kind.MONO;
        }
        if (type == Flux.class) {
            return LockedMethod.Kind.FLUX;
        }
        throw new IllegalArgumentException("it returns " + type.getSimpleName()
                + ", and only methods that return Mono or Flux and Kotlin's suspend functions can be locked;"
                + " let it return a Mono, or use LockClient.withLock in it");
    }

    private LockClient client(String name) {
        try {
            return name.isEmpty() ? beans.getBean(LockClient.class) : beans.getBean(name, LockClient.class);
        } catch (NoUniqueBeanDefinitionException e) {
            throw new IllegalArgumentException(
                    "there are several LockClients, " + e.getBeanNamesFound() + "; say which by client = \"…\"", e);
        } catch (NoSuchBeanDefinitionException | BeanNotOfRequiredTypeException e) {
            throw new IllegalArgumentException(
                    "there is no LockClient bean" + (name.isEmpty() ? "" : " '" + name + "'") + "; declare one", e);
        }
    }

    private static LockClient sharing(WithLock annotation, LockClient client) {
        boolean counts = annotation.capacity() != 0 || annotation.permits() != 1;
        if (annotation.shared() && counts) {
            throw new IllegalArgumentException("it is shared, and it takes permits; leave one of them");
        }
        try {
            if (counts) {
                return client.permits(annotation.permits(), annotation.capacity());
            }
            return annotation.shared() ? client.shared() : client;
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private static LockClient with(LockClient client, LockOptions options) {
        try {
            return client.with(options);
        } catch (UnsupportedOperationException e) {
            throw new IllegalArgumentException(e.getMessage(), e);
        }
    }

    private LockOptions options(WithLock annotation, LockOptions defaults) {
        LockOptions options = defaults;
        options = changed(options, "waitTimeout", annotation.waitTimeout(), options::withWaitTimeout);
        options = changed(options, "lease", annotation.lease(), options::withLease);
        options = changed(options, "maxHold", annotation.maxHold(), options::withMaxHold);
        options = changed(options, "minHold", annotation.minHold(), options::withMinHold);
        options = changed(options, "retention", annotation.retention(), retention(options));
        if (annotation.fairness().length > 1) {
            throw new IllegalArgumentException(
                    "its fairness is " + Arrays.toString(annotation.fairness()) + "; leave one of them");
        }
        return annotation.fairness().length == 0
                ? options
                : options.withFairness(annotation.fairness()[0]);
    }

    private static Function<Duration, LockOptions> retention(LockOptions options) {
        return time -> time.isZero() ? options.withoutRetention() : options.withRetention(time);
    }

    private LockOptions changed(
            LockOptions options, String attribute, String text, Function<Duration, LockOptions> change) {
        String resolved = resolved(text);
        if (resolved.isEmpty()) {
            return options;
        }
        try {
            return change.apply(DurationFormatterUtils.detectAndParse(resolved));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "its " + attribute + " '" + resolved + "' will not do: " + e.getMessage()
                            + "; write it as 2s or PT2S",
                    e);
        }
    }

    /** Without placeholders. Boot refuses one that nothing is known of; Spring alone leaves it as it is. */
    private String resolved(String text) {
        String resolved = Objects.requireNonNullElse(beans.resolveEmbeddedValue(text), "");
        if (resolved.contains("${")) {
            throw new IllegalArgumentException(
                    "nothing is known of its placeholder " + resolved + "; set the property");
        }
        return resolved.trim();
    }

    static String nameOf(Method method) {
        return method.getDeclaringClass().getSimpleName() + "." + method.getName()
                + Arrays.stream(method.getParameterTypes())
                        .map(Class::getSimpleName)
                        .limit(LockKey.parameters(method))
                        .collect(Collectors.joining(", ", "(", ")"));
    }

    static RefusedMethodException refused(Method method, String beanName, IllegalArgumentException why) {
        return new RefusedMethodException(
                "@WithLock on " + nameOf(method) + " of bean '" + beanName + "': ", "" + why.getMessage(), why);
    }
}
