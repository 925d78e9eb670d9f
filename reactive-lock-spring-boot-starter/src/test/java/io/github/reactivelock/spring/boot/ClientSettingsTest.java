package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientClosedException;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.LockRequest;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testkit.ForwardingBackend;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What the properties and the beans of the application make of the client. */
class ClientSettingsTest {

    private final ApplicationContextRunner application =
            Contexts.plain().withPropertyValues("reactive-lock.store=memory");

    @Test
    void withoutPropertiesTheOptionsAreTheDefaults() {
        application.run(context -> assertThat(Contexts.locks(context).options().toString())
                .isEqualTo(LockOptions.defaults().toString()));
    }

    @Test
    void thePropertiesBecomeTheOptionsOfTheClient() {
        application
                .withPropertyValues(
                        "reactive-lock.lease=10s",
                        "reactive-lock.wait-timeout=2s",
                        "reactive-lock.max-hold=1m",
                        "reactive-lock.fairness=fifo",
                        "reactive-lock.name=shop-3")
                .run(context -> {
                    LockClient locks = Contexts.locks(context);
                    LockInfo held = locks.withLock("k", locks.inspect("k")).block(Contexts.PATIENCE);

                    assertThat(locks.options().lease()).isEqualTo(Duration.ofSeconds(10));
                    assertThat(locks.options().waitTimeout()).contains(Duration.ofSeconds(2));
                    assertThat(locks.options().maxHold()).contains(Duration.ofMinutes(1));
                    assertThat(locks.options().fairness()).isEqualTo(Fairness.FIFO);
                    assertThat(held)
                            .isInstanceOfSatisfying(
                                    LockInfo.Held.class,
                                    hold -> assertThat(hold.owner()).isEqualTo("shop-3"));
                });
    }

    @ParameterizedTest
    @CsvSource({
        "lease, 10ms, lease must be at least 100 ms",
        "wait-timeout, 0s, waitTimeout must be more than zero",
        "max-hold, 10ms, maxHold must be at least 100 ms",
        "retention, 0s, retention must be at least 1 ms",
        "retention, 31s, a retention of PT31S cannot be: it is longer than the lease of PT30S",
        "name, ' ', owner must be 1 to 200 bytes"
    })
    void aValueThatTheLibraryRefusesIsToldWithItsProperty(String property, String value, String says) {
        application
                .withPropertyValues("reactive-lock." + property + "=" + value)
                .run(context -> {
                    var told = Contexts.analysis(context.getStartupFailure());

                    assertThat(told.getDescription()).startsWith("reactive-lock." + property + ": " + says);
                    assertThat(told.getAction()).isEqualTo("Change reactive-lock." + property + ".");
                });
    }

    @Test
    void aStoreThatCannotCallBackRefusesARetentionByItsName() {
        application
                .withPropertyValues("reactive-lock.retention=5s")
                .run(context -> assertThat(Contexts.locks(context).options().retention())
                        .contains(Duration.ofSeconds(5)));
        application
                .withPropertyValues("reactive-lock.retention=5s")
                .withBean(LockBackend.class, NoRecalls::new)
                .run(context -> {
                    var told = Contexts.analysis(context.getStartupFailure());

                    assertThat(told.getDescription())
                            .startsWith("reactive-lock.retention: NoRecalls cannot call a lock back");
                });
    }

    private static final class NoRecalls extends ForwardingBackend {

        NoRecalls() {
            super(InMemoryLockBackend.create());
        }

        @Override
        public boolean supportsRecall() {
            return false;
        }
    }

    @Test
    void optionsOfTheApplicationReplaceThoseOfTheProperties() {
        LockOptions own = LockOptions.defaults().withLease(Duration.ofSeconds(7));

        application
                .withBean(LockOptions.class, () -> own)
                .run(context ->
                        assertThat(Contexts.locks(context).options().lease()).isEqualTo(Duration.ofSeconds(7)));
    }

    @Test
    void aClientOfTheApplicationReplacesAllOfIt() {
        LockClient own = LockClient.create(InMemoryLockBackend.create());

        Contexts.plain().withBean(LockClient.class, () -> own).run(context -> {
            assertThat(Contexts.locks(context)).isSameAs(own);
            assertThat(context)
                    .doesNotHaveBean(LockBackend.class)
                    .doesNotHaveBean(LockOptions.class)
                    .doesNotHaveBean(LocalLocks.class);
        });
    }

    @Test
    void severalClientsOfTheApplicationAreAllClosed() {
        LockClient one = LockClient.create(InMemoryLockBackend.create());
        LockClient other = LockClient.create(InMemoryLockBackend.create());

        Contexts.plain()
                .withBean("one", LockClient.class, () -> one, definition -> definition.setDestroyMethodName(""))
                .withBean("other", LockClient.class, () -> other, definition -> definition.setDestroyMethodName(""))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LocksEndpoint.class));

        for (LockClient client : List.of(one, other)) {
            assertThatThrownBy(() -> Contexts.get(client.acquire("k"))).isInstanceOf(LockClientClosedException.class);
        }
    }

    @Test
    void allListenersHearAndCustomizersComeLast() {
        List<String> heard = new CopyOnWriteArrayList<>();
        List<String> order = new ArrayList<>();
        application
                .withBean("first", LockListener.class, () -> new Hearing("first", heard))
                .withBean("second", LockListener.class, () -> new Hearing("second", heard))
                .withBean(LockClientCustomizer.class, () -> builder -> {
                    order.add("customized");
                    var unused = builder.name("named in code");
                })
                .withPropertyValues("reactive-lock.name=named in a property")
                .run(context -> {
                    LockClient locks = Contexts.locks(context);
                    LockInfo held = locks.withLock("k", locks.inspect("k")).block(Contexts.PATIENCE);

                    assertThat(order).hasSize(1);
                    assertThat(heard).contains("first waits for k", "second waits for k");
                    assertThat(held)
                            .isInstanceOfSatisfying(
                                    LockInfo.Held.class,
                                    hold -> assertThat(hold.owner()).isEqualTo("named in code"));
                });
    }

    @Test
    void aListenerOfACustomizerTakesTheEventsFromNoneOfTheBeans() {
        List<String> heard = new CopyOnWriteArrayList<>();
        application
                .withBean(LockListener.class, () -> new Hearing("the bean", heard))
                .withBean(LockClientCustomizer.class, () -> builder -> {
                    var unused = builder.listener(new Hearing("the customizer's", heard));
                })
                .run(context -> {
                    Contexts.get(Contexts.locks(context).acquire("k"));

                    assertThat(heard).containsExactly("the bean waits for k", "the customizer's waits for k");
                    assertThat(context.getBean(LocalLocks.class).held())
                            .extracting(LocalLocks.Local::key)
                            .containsExactly("k");
                });
    }

    private record Hearing(String name, List<String> heard) implements LockListener {
        @Override
        public void waiting(LockRequest request) {
            heard.add(name + " waits for " + request.key());
        }
    }
}
