package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

/** What locks are called. */
class KeyTest {

    record Order(String customer, Address address) {}

    /** Has no text of its own. */
    static final class Address {

        public String street() {
            return "High Street";
        }

        public String getTown() {
            return "Bath";
        }
    }

    static class Tenants {

        private final AtomicInteger calls = new AtomicInteger();

        public String next() {
            return "tenant-" + calls.incrementAndGet();
        }
    }

    /** Each method answers with the key of its lock. */
    static class Keys {

        @WithLock(name = "report")
        Mono<String> name(LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(key = "#id")
        Mono<String> keyAlone(String id, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#p1 + '/' + #a0")
        Mono<String> byPlace(int first, int second, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#order?.customer")
        Mono<String> property(Order order, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#order.address.town + #order.address.street()")
        Mono<String> deep(Order order, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#order.address")
        Mono<String> withoutText(Order order, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#value")
        Mono<String> any(Object value, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#orders.![customer]")
        Mono<List<String>> many(List<Order> orders, List<LockHandle> held) {
            return Mono.just(held.stream().map(LockHandle::key).toList());
        }

        @WithLock(name = "order", key = "#root.method.name + method.name.length() + #root.args.size() + target.text()")
        Mono<String> root(LockHandle held) {
            return Mono.just(held.key());
        }

        public String text() {
            return "!";
        }

        @WithLock(name = "tenant", key = "@tenants.next()")
        Mono<String> bean(LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "${app}-order", key = "#id + '${suffix}'")
        Mono<String> placeholders(long id, LockHandle held) {
            return Mono.just(held.key());
        }
    }

    private final AnnotationConfigApplicationContext context = context();
    private final Keys keys = context.getBean(Keys.class);

    private static AnnotationConfigApplicationContext context() {
        return Contexts.of(Map.of("app", "shop", "suffix", "-x"), Keys.class, TenantsBean.class);
    }

    @org.springframework.context.annotation.Configuration(proxyBeanMethods = false)
    static class TenantsBean {

        @org.springframework.context.annotation.Bean
        Tenants tenants() {
            return new Tenants();
        }
    }

    @AfterEach
    void close() {
        context.getBean(LockClient.class).close().block();
        context.close();
    }

    @Test
    void isTheNameOrTheValueOrBoth() {
        assertThat(keys.name(null).block()).isEqualTo("report");
        assertThat(keys.keyAlone("42", null).block()).isEqualTo("42");
        assertThat(keys.any(42, null).block()).isEqualTo("order:42");
    }

    @Test
    void parametersAreKnownByNameAndByPlace() {
        assertThat(keys.byPlace(1, 2, null).block()).isEqualTo("order:2/1");
        Order order = new Order("Ann", new Address());
        assertThat(keys.property(order, null).block()).isEqualTo("order:Ann");
        assertThat(keys.deep(order, null).block()).isEqualTo("order:BathHigh Street");
        assertThat(keys.root(null).block()).isEqualTo("order:root41!");
    }

    @Test
    void aCollectionIsALockForEachOfItsElements() {
        List<Order> two = List.of(new Order("Bob", new Address()), new Order("Ann", new Address()));

        assertThat(keys.many(two, null).block()).containsExactly("order:Ann", "order:Bob");
        StepVerifier.create(keys.many(List.of(), null)).verifyError(IllegalArgumentException.class);
    }

    @Test
    void anEnumIsItsName() {
        assertThat(keys.any(TimeUnit.SECONDS, null).block()).isEqualTo("order:SECONDS");
    }

    @Test
    void placeholdersAreResolved() {
        assertThat(keys.placeholders(42, null).block()).isEqualTo("shop-order:42-x");
    }

    @Test
    void isEvaluatedAtEachSubscription() {
        Mono<String> call = keys.bean(null);

        assertThat(call.repeat(1).collectList().block()).containsExactly("tenant:tenant-1", "tenant:tenant-2");
    }

    @Test
    void aValueThatNamesNothingIsAnErrorThatNamesTheExpression() {
        refused(
                keys.property(null, null),
                "@WithLock on Keys.property(Order, LockHandle): its key #order?.customer is null;");
        refused(keys.property(new Order(" ", null), null), "its key #order?.customer is blank: ' ';");
        refused(
                keys.withoutText(new Order("Ann", new Address()), null),
                "its key #order.address is of class " + Address.class.getName()
                        + ", whose text says nothing of its value;");
        refused(keys.any(new int[] {1}, null), "its key #value is of class [I");
        refused(keys.any(Mono.just(1), null), "its key #value is of class reactor.core.publisher.MonoJust");
        refused(keys.any(Arrays.asList(1, null), null), "its key #value is null;");
    }

    private static void refused(Mono<?> call, String message) {
        StepVerifier.create(call)
                .verifyErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(message));
    }
}
