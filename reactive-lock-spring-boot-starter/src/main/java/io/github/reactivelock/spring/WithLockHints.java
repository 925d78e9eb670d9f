package io.github.reactivelock.spring;

import java.lang.reflect.Method;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.aot.hint.ExecutableMode;
import org.springframework.aot.hint.MemberCategory;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.beans.factory.aot.BeanRegistrationAotContribution;
import org.springframework.beans.factory.aot.BeanRegistrationAotProcessor;
import org.springframework.beans.factory.support.RegisteredBean;

/** Has a native image keep the annotated methods, without which it would find no locks. */
final class WithLockHints implements BeanRegistrationAotProcessor {

    @Override
    public @Nullable BeanRegistrationAotContribution processAheadOfTime(RegisteredBean bean) {
        List<Method> locked = LockedMethods.declaredBy(bean.getBeanClass(), bean.getBeanClass())
                .toList();
        return locked.isEmpty() ? null : (context, code) -> register(context.getRuntimeHints(), locked);
    }

    private static void register(RuntimeHints hints, List<Method> locked) {
        locked.forEach(method -> hints.reflection().registerMethod(method, ExecutableMode.INVOKE));
        // What #root has, and annotations that are made of ours.
        hints.reflection().registerType(LockKey.Call.class, MemberCategory.INVOKE_PUBLIC_METHODS);
        hints.proxies().registerJdkProxy(WithLock.class);
    }
}
