package io.github.reactivelock.spring;

import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.context.expression.BeanFactoryResolver;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.DefaultParameterNameDiscoverer;
import org.springframework.core.KotlinDetector;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.core.convert.TypeDescriptor;
import org.springframework.expression.spel.support.StandardTypeConverter;

/** What the locks of a method are called: a fixed name, the value of an expression over a call, or both. */
final class LockKey {

    static final ParameterNameDiscoverer PARAMETER_NAMES = new DefaultParameterNameDiscoverer();

    private final String name;
    private final @Nullable KeyExpression expression;
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
                expression.isBlank() ? null : new KeyExpression(expression, method, parameters(method), beans);
        this.method = method;
        this.beans = new BeanFactoryResolver(beans);
    }

    /** How many parameters a method has for those who call it; a suspend function has one more. */
    static int parameters(Method method) {
        return method.getParameterCount() - (KotlinDetector.isSuspendingFunction(method) ? 1 : 0);
    }

    /** The expression's root. */
    record Call(@Nullable Object target, Method method, List<@Nullable Object> args) {}

    /** Makes texts of the parts of a text as of a whole value. */
    private static final class Converter extends StandardTypeConverter {

        /** Asked for what it cannot convert too: SpEL would write that as it is. */
        @Override
        public boolean canConvert(@Nullable TypeDescriptor source, TypeDescriptor target) {
            return target.getType() == String.class || super.canConvert(source, target);
        }

        @Override
        public @Nullable Object convertValue(
                @Nullable Object value, @Nullable TypeDescriptor source, TypeDescriptor target) {
            if (value == null || target.getType() != String.class) {
                return super.convertValue(value, source, target);
            }
            KeyText.check(value);
            Object whole = KeyText.whole(value);
            TypeDescriptor its = TypeDescriptor.forObject(whole);
            return super.canConvert(its, target) ? super.convertValue(whole, its, target) : whole.toString();
        }
    }

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
        context.setTypeConverter(new Converter());
        try {
            Object given = expression.value(context);
            Object value = given == null ? null : KeyText.whole(given);
            return value instanceof Collection<?> values
                    ? values.stream().map(this::key).toList()
                    : List.of(key(value));
        } catch (KeyText.Unusable e) {
            throw unusable(String.valueOf(e.getMessage()));
        }
    }

    private String key(@Nullable Object value) {
        String text = KeyText.of(value);
        return name.isEmpty() ? text : name + ":" + text;
    }

    private IllegalArgumentException unusable(String how) {
        return new IllegalArgumentException(
                "@WithLock on " + LockedMethodReader.nameOf(method) + ": its key " + this + " " + how
                        + "; give the call a value that tells what is locked, or the annotation an expression that does");
    }

    /** {@return the expression, empty for none} */
    @Override
    public String toString() {
        return expression == null ? "" : expression.toString();
    }
}
