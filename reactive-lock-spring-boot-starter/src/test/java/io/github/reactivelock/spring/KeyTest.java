package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import reactor.core.publisher.Flux;
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

        @WithLock(name = "order", key = "'eu-' + #value")
        Mono<String> concatenated(Object value, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#values.!['eu-' + #this]")
        Mono<String> projected(List<?> values, LockHandle held) {
            return Mono.just(held.key());
        }

        @WithLock(name = "order", key = "#one + #other")
        Mono<String> sum(int one, int other, LockHandle held) {
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

    record Holding(String customer, Object part) {}

    /** Says itself what it is. */
    record WithText(String customer, Object part) {
        @Override
        public String toString() {
            return customer;
        }
    }

    @Test
    void anOptionalIsItsValueAndAnEmptyOneIsNone() {
        assertThat(keys.any(Optional.of(42), null).block()).isEqualTo("order:42");
        assertThat(keys.any(OptionalLong.of(42), null).block()).isEqualTo("order:42");
        assertThat(keys.any(Optional.of(List.of(42)), null).block()).isEqualTo("order:42");
        assertThat(keys.concatenated(Optional.of(42), null).block()).isEqualTo("order:eu-42");
        refused(keys.any(Optional.empty(), null), "its key #value is Optional.empty;");
        refused(keys.any(OptionalLong.empty(), null), "its key #value is OptionalLong.empty;");
        refused(keys.any(List.of(Optional.empty()), null), "its key #value is Optional.empty;");
        refused(keys.concatenated(Optional.empty(), null), "its key 'eu-' + #value is Optional.empty;");
        refused(keys.any(new Holding("Ann", Optional.empty()), null), "has a part that is Optional.empty;");
    }

    @Test
    void aValueIsRefusedForAPartThatHasNoTextOfItsOwn() {
        String array = "holds [I@";
        refused(keys.any(new Holding("Ann", new int[] {1}), null), array);
        refused(keys.any(List.of(new Holding("Ann", new int[] {1})), null), array);
        refused(keys.any(new Holding("Ann", new Holding("Bob", new int[] {1})), null), array);
        refused(keys.any(new AtomicReference<>(new int[] {1}), null), array);
        refused(keys.any(new Holding("Ann", new String[] {"a"}), null), "holds [Ljava.lang.String;@");
        refused(keys.any(List.of(List.of(new int[] {1})), null), "is of class [I");
        String address = "is of class " + Address.class.getName();
        refused(keys.any(new Holding("Ann", new Address()), null), address);
        refused(keys.any(List.of(List.of(new Address())), null), address);
        refused(keys.any(new TreeMap<>(Map.of("a", new Address())), null), address);
        refused(keys.any(new AtomicReference<>(new Address()), null), "holds " + Address.class.getName() + "@");
        refused(keys.concatenated(new Address(), null), address);
        refused(keys.concatenated(new Holding("Ann", new Address()), null), address);
        refused(keys.projected(List.of(new Address()), null), address);
    }

    @Test
    void aValueThatComesLaterIsNoKey() {
        refused(keys.any(Flux.just(1), null), "whose text says nothing of its value");
        refused(
                keys.any(CompletableFuture.completedFuture(1), null),
                "is of class " + CompletableFuture.class.getName());
        refused(keys.any(List.of(CompletableFuture.completedFuture(1)), null), "is of class");
        refused(keys.any(Optional.of(Mono.just(1)), null), "is of class reactor.core.publisher.MonoJust");
        refused(keys.any(new Holding("Ann", Mono.just(1)), null), "is of class reactor.core.publisher.MonoJust");
        refused(keys.concatenated(Mono.just(1), null), "is of class reactor.core.publisher.MonoJust");
    }

    @Test
    void aPartThatIsNullIsRefused() {
        refused(keys.concatenated(null, null), "its key 'eu-' + #value has a part that is null;");
        refused(keys.any(new Holding("Ann", null), null), "its key #value has a part that is null;");
        refused(keys.any(List.of(Arrays.asList(1, null)), null), "has a part that is null;");
        refused(keys.concatenated(Arrays.asList(1, null), null), "has a part that is null;");
    }

    @Test
    void partsWithoutAnOrderOfTheirOwnAreRefused() {
        refused(keys.any(new Holding("Ann", Set.of(1, 2)), null), "whose order may be another one in each process");
        refused(keys.any(Map.of("a", 1), null), "whose order may be another one in each process");
        assertThat(keys.any(new Holding("Ann", new TreeSet<>(Set.of(2, 1))), null)
                        .block())
                .isEqualTo("order:Holding[customer=Ann, part=[1, 2]]");
    }

    @Test
    void aValueThatHoldsItselfIsRefused() {
        List<Object> itself = new ArrayList<>();
        itself.add(itself);

        refused(keys.any(List.of(itself), null), "holds values 16 deep, or itself;");
    }

    @Test
    void whatSaysItselfWhatItIsMayHoldAnything() {
        assertThat(keys.any(new WithText("Ann", new int[] {1}), null).block()).isEqualTo("order:Ann");
        assertThat(keys.any(new WithText("Ann", null), null).block()).isEqualTo("order:Ann");
        assertThat(keys.any(new Holding("ann.smith@cafe.example", 1), null).block())
                .isEqualTo("order:Holding[customer=ann.smith@cafe.example, part=1]");
        assertThat(keys.any("[I@1b2c3d", null).block()).isEqualTo("order:[I@1b2c3d");
        assertThat(keys.concatenated(new int[] {1, 2}, null).block()).isEqualTo("order:eu-1,2");
        assertThat(keys.sum(1, 2, null).block()).isEqualTo("order:3");
    }

    private static void refused(Mono<?> call, String message) {
        StepVerifier.create(call)
                .verifyErrorSatisfies(error -> assertThat(error)
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(message));
    }
}
