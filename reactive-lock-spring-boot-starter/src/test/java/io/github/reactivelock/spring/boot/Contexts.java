package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.stream.Stream;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ssl.SslAutoConfiguration;
import org.springframework.boot.data.redis.autoconfigure.DataRedisAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.r2dbc.autoconfigure.R2dbcAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import reactor.core.publisher.Mono;

/** Application contexts with the starter, and what one does with them. */
final class Contexts {

    static final Duration PATIENCE = Duration.ofSeconds(60);

    private Contexts() {}

    /** An application that has nothing else, whose first question to a store may take a busy machine long. */
    static ApplicationContextRunner plain() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        ReactiveLockAutoConfiguration.class, ReactiveLockActuatorAutoConfiguration.class))
                .withBean("patience", LockClientCustomizer.class, () -> builder -> {
                    var unused = builder.commandTimeout(PATIENCE);
                });
    }

    /** An application with Spring Data Redis, as Spring Boot configures it. */
    static ApplicationContextRunner redis(String... properties) {
        return plain().withConfiguration(
                        AutoConfigurations.of(DataRedisAutoConfiguration.class, SslAutoConfiguration.class))
                .withPropertyValues(properties);
    }

    /** An application with a database over R2DBC, as Spring Boot configures it. */
    static ApplicationContextRunner r2dbc(String... properties) {
        return plain().withConfiguration(AutoConfigurations.of(R2dbcAutoConfiguration.class))
                .withPropertyValues(properties);
    }

    static LockClient locks(ApplicationContext context) {
        return context.getBean(LockClient.class);
    }

    /** Work under a lock sees the store hold it for this process, and afterwards the lock is free. */
    static void aLockIsHeldWhileItsWorkRuns(ApplicationContext context) {
        LockClient locks = locks(context);
        LockInfo held = locks.withLock("order:42", locks.inspect("order:42")).block(PATIENCE);
        LockInfo free = locks.inspect("order:42").block(PATIENCE);

        assertThat(held).isInstanceOf(LockInfo.Held.class);
        assertThat(free).isInstanceOf(LockInfo.Free.class);
    }

    static void get(Mono<?> mono) {
        Object unused = mono.block(PATIENCE);
    }

    /** What the application says when it does not start; by the analyzers that Spring Boot finds. */
    static FailureAnalysis analysis(Throwable failure) {
        // Those of Spring Boot that want a bean factory are left out.
        FailureHandler leftOut = (type, name, error) -> {};
        return SpringFactoriesLoader.forDefaultResourceLocation().load(FailureAnalyzer.class, leftOut).stream()
                .filter(analyzer -> analyzer.getClass().getPackageName().startsWith("io.github.reactivelock"))
                .flatMap(analyzer -> Stream.ofNullable(analyzer.analyze(failure)))
                .findFirst()
                .orElseThrow(() -> new AssertionError("nobody explains this", failure));
    }
}
