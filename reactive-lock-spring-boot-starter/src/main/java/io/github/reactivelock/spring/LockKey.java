package io.github.reactivelock.spring;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.Expression;
import org.springframework.util.ReflectionUtils;

/** What the locks of a method are called: a fixed name, the value of an expression over a call, or both. */
final class LockKey {

    static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private final String name;
    private final @Nullable Expression expression;
    private final Method method;
    private final BeanFactoryResolver beans;

    /**
     * Checks what can be checked without a call.
     *
     * @param name empty for none
     * @param expression empty for none
     */
    LockKey(String name, String expression, Method method, BeanFactory beans) {
        if (name.isBlank() && expression.isBlank()) {
            throw new IllegalArgumentException("it has neither name nor key; give it at least one of them");
        }
        if (name.indexOf(':') >= 0) {
            throw new IllegalArgumentException(
                    "its name '" + name + "' has a colon, which ends a lock's name in metrics; take another sign");
        }
        this.name = name;
        this.expression =
                expression.isBlank() ? null : new KeyExpression(method, parameters(method), beans).parse(expression);
        this.method = method;
        this.beans = new BeanFactoryResolver(beans);
    }

    /** How many parameters a method has for those who call it; a suspend function has one more. */
    static int parameters(Method method) {
        return method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
    }

    /** The expression's root. */
    record Call(@Nullable Object target, Method method, List<@Nullable Object> args) {}

    /**
     * The keys of a call's locks, one unless the expression gives a collection.
     *
     * @throws IllegalArgumentException if a value is none that a key can be made of
     */
    List<String> of(ProxyMethodInvocation call) {
        if (expression == null) {
            return List.of(name);
        }
        @Nullable Object[] arguments = call.getArguments();
        List<@Nullable Object> own = Arrays.asList(arguments).subList(0, parameters(method));
        var context = new MethodBasedEvaluationContext(
                new Call(call.getThis(), method, own), method, arguments, PARAMETER_NAMES);
        context.setBeanResolver(beans);
        Object value = expression.getValue(context);
        return value instanceof Collection<?> values
                ? values.stream().map(this::key).toList()
                : List.of(key(value));
    }

    private String key(@Nullable Object value) {
        String text = text(value);
        return name.isEmpty() ? text : name + ":" + text;
    }

    private String text(@Nullable Object value) {
        if (value == null) {
            throw unusable("is null");
        }
        if (value instanceof Enum<?> constant) {
            return constant.name();
        }
        if (value instanceof Publisher || value.getClass().isArray() || hasNoText(value.getClass())) {
            throw unusable("is of " + value.getClass() + ", whose text says nothing of its value");
        }
        String text = value.toString();
        if (text.isBlank()) {
            throw unusable("is blank: '" + text + "'");
        }
        return text;
    }

    /** A text such as {@code Order@1b2c3d} would be another lock for every object. */
    private static boolean hasNoText(Class<?> type) {
        Method toString = ReflectionUtils.findMethod(type, "toString");
        return toString == null || toString.getDeclaringClass() == Object.class;
    }

    private IllegalArgumentException unusable(String how) {
        return new IllegalArgumentException(
                "@WithLock on " + LockedMethodReader.nameOf(method) + ": its key " + this + " " + how
                        + "; give the call a value that tells what is locked, or the annotation an expression that does");
    }

    /** {@return the expression, empty for none} */
    @Override
    public String toString() {
        return expression == null ? "" : expression.getExpressionString();
    }
}
