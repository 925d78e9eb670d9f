package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.springframework.aot.hint.predicate.RuntimeHintsPredicates.reflection;

import org.junit.jupiter.api.Test;
import org.springframework.aot.generate.ClassNameGenerator;
import org.springframework.aot.generate.DefaultGenerationContext;
import org.springframework.aot.generate.InMemoryGeneratedFiles;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.aot.ApplicationContextAotGenerator;
import org.springframework.javapoet.ClassName;
import org.springframework.util.ReflectionUtils;

/** What a native image is told of locked methods. */
class WithLockHintsTest {

    private final RuntimeHints hints = new RuntimeHints();

    @Test
    void annotatedMethodsAreKept() {
        try (var context = new AnnotationConfigApplicationContext()) {
            context.register(Contexts.Locks.class, Orders.class);
            var generation = new DefaultGenerationContext(
                    new ClassNameGenerator(ClassName.get("test", "Application")), new InMemoryGeneratedFiles(), hints);
            new ApplicationContextAotGenerator().processAheadOfTime(context, generation);
        }

        assertThat(reflection().onMethodInvocation(ReflectionUtils.findMethod(Orders.class, "isLocked", long.class)))
                .accepts(hints);
        assertThat(reflection().onMethodInvocation(ReflectionUtils.findMethod(LockKey.Call.class, "method")))
                .accepts(hints);
    }
}
