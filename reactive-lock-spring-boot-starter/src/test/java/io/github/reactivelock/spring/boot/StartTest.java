package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spring.WithLock;
import io.r2dbc.spi.ConnectionFactories;
import io.r2dbc.spi.ConnectionFactory;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.beans.factory.annotation.Qualifier;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** What an application says when it starts, or does not: which locks it has, and what is in the way. */
@ExtendWith(OutputCaptureExtension.class)
class StartTest {

    private static final String BOX = "APPLICATION FAILED TO START";

    static class Archive {

        private final LockClient locks;
        private final LockClient archive;

        Archive(LockClient locks, @Qualifier("archive") LockClient archive) {
            this.locks = locks;
            this.archive = archive;
        }

        @WithLock(name = "a")
        public Mono<String> inTheFirst() {
            return where();
        }

        @WithLock(name = "a", client = "archive")
        public Mono<String> inTheSecond() {
            return where();
        }

        private Mono<String> where() {
            return Mono.zip(locks.inspect("a"), archive.inspect("a"))
                    .map(both -> both.getT1().isHeld() + " " + both.getT2().isHeld());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondClient {

        @Bean(defaultCandidate = false)
        LockClient archive() {
            return LockClient.create(InMemoryLockBackend.create());
        }

        @Bean
        Archive archives(LockClient locks, @Qualifier("archive") LockClient archive) {
            return new Archive(locks, archive);
        }
    }

    private static ApplicationContextRunner inMemory() {
        return Contexts.plain()
                .withConfiguration(AutoConfigurations.of(WithLockAutoConfiguration.class, AopAutoConfiguration.class))
                .withPropertyValues("reactive-lock.store=memory");
    }

    @Test
    void aSecondClientThatIsInjectedByNameLeavesTheStartersThere() {
        AtomicReference<LockClient> second = new AtomicReference<>();
        inMemory().withUserConfiguration(SecondClient.class).run(context -> {
            second.set(context.getBean("archive", LockClient.class));
            Archive archive = context.getBean(Archive.class);
            assertThat(archive.inTheFirst().block(Contexts.PATIENCE)).isEqualTo("true false");
            assertThat(archive.inTheSecond().block(Contexts.PATIENCE)).isEqualTo("false true");
            assertThat(context).hasBean("lockClient").hasSingleBean(LockLifecycle.class);
        });

        assertThatThrownBy(() -> Contexts.get(second.get().acquire("k"))).isInstanceOf(LockClientClosedException.class);
    }

    @Test
    void propertiesThatDoNothingBesideTheApplicationsClientAreSaid(CapturedOutput output) {
        Contexts.plain()
                .withPropertyValues("reactive-lock.url=redis://localhost:1")
                .withBean("mine", LockClient.class, () -> LockClient.create(InMemoryLockBackend.create()))
                .run(context -> assertThat(context).hasNotFailed());

        assertThat(output)
                .contains("reactive-lock.* is set, and changes nothing: the application has a LockClient of its own,"
                        + " 'mine', so the starter makes none;")
                .contains("@Bean(defaultCandidate = false)")
                .contains("locks in the store of the application's LockClient bean 'mine', lease 30 s");
    }

    @Test
    void oneLineSaysWhereTheLocksAre(CapturedOutput output) {
        inMemory().withPropertyValues("reactive-lock.lease=1500ms").run(context -> {});
        Contexts.redis("spring.data.redis.host=redis.example", "spring.data.redis.password=secret")
                .run(context -> {});
        Contexts.r2dbc("spring.r2dbc.url=r2dbc:h2:mem:///locks").run(context -> {});
        Contexts.plain()
                .withBean(LockBackend.class, InMemoryLockBackend::create)
                .run(context -> {});

        assertThat(output)
                .contains("locks in the memory of this process, lease 1500 ms")
                .contains("locks in Redis at redis.example:6379, prefix reactivelock, lease 30 s")
                .contains("locks in r2dbc, over ConnectionFactory connectionFactory, lease 30 s")
                .contains("locks in the application's InMemoryLockBackend, lease 30 s")
                .doesNotContain("secret");
    }

    @ParameterizedTest
    @CsvSource({
        "redis://user:secret@one:6379/0?timeout=1s, one:6379",
        "redis-cluster://:secret@one:7000;two:7001, one:7000;two:7001",
        "redis://:secret@one;redis://:secret@two, one;two",
        "etcd://one:2379;two:2379, one:2379;two:2379",
        "r2dbc:postgresql://user:p@secret@one:5432/db?password=secret, one:5432",
        "r2dbc:h2:mem:///locks, ''",
        "localhost:2181, localhost:2181"
    })
    void ofAUrlTheHostsAreShown(String url, String shown) {
        assertThat(StoreOfLocks.hosts(url.replace(';', ','))).isEqualTo(shown.replace(';', ','));
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        ReactiveLockAutoConfiguration.class,
        WithLockAutoConfiguration.class,
        AopAutoConfiguration.class
    })
    static class Application {}

    static class Needing {
        Needing(LockClient locks) {}
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoDatabases {

        @Bean
        ConnectionFactory one() {
            return ConnectionFactories.get("r2dbc:h2:mem:///one");
        }

        @Bean
        ConnectionFactory other() {
            return ConnectionFactories.get("r2dbc:h2:mem:///other");
        }

        @Bean
        Needing needing(LockClient locks) {
            return new Needing(locks);
        }
    }

    static class NotLocked {
        @WithLock(name = "a")
        public final Mono<String> work() {
            return Mono.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneThatCannotBeLocked {
        @Bean
        NotLocked orders() {
            return new NotLocked();
        }
    }

    private static String failing(CapturedOutput output, Class<?> configuration, String... properties) {
        SpringApplication application = new SpringApplication(Application.class, configuration);
        application.setWebApplicationType(WebApplicationType.NONE);
        assertThatThrownBy(() -> application.run(properties)).isNotNull();
        return output.toString().substring(output.toString().indexOf(BOX));
    }

    @Test
    void theBoxSaysWhichMethodCannotBeLockedAndWhatToDo(CapturedOutput output) {
        assertThat(failing(output, OneThatCannotBeLocked.class, "--reactive-lock.store=memory"))
                .containsSubsequence(
                        "Description:",
                        "@WithLock on NotLocked.work() of bean 'orders': it is final, so no proxy can lock it",
                        "Action:",
                        "Take that away, in Kotlin with open or the plugin kotlin-spring.")
                .doesNotContain("\tat ");
    }

    @Test
    void theBoxHasOurSentenceAndNotThatOfABeanAmongTheCauses(CapturedOutput output) {
        assertThat(failing(output, TwoDatabases.class))
                .containsSubsequence(
                        "Description:",
                        "the locks could use any of the beans ConnectionFactory [one, other], and none of them is @Primary",
                        "Action:",
                        "Mark one of them as @Primary, or set reactive-lock.url");
    }

    static class OfNoClient {
        @WithLock(name = "a", client = "nowhere")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OneOfNoClient {
        @Bean
        OfNoClient orders() {
            return new OfNoClient();
        }
    }

    @Test
    void theBoxSaysWhichClientAMethodMisses(CapturedOutput output) {
        assertThat(failing(output, OneOfNoClient.class, "--reactive-lock.store=memory"))
                .containsSubsequence(
                        "Description:",
                        "@WithLock on OfNoClient.work() of bean 'orders': there is no LockClient bean 'nowhere'",
                        "Action:",
                        "Declare one.");
    }
}
