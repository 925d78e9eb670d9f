package io.github.reactivelock.spring;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.Fairness;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.github.reactivelock.spring.boot.OfAnotherPackage;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.reactivestreams.Publisher;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import reactor.core.publisher.Mono;

/** What cannot be locked keeps the application from starting, with a sentence that says where and what to do. */
class RefusalTest {

    static class OfText {
        @WithLock(name = "a")
        public String work(int id) {
            return "";
        }
    }

    static class OfNothing {
        @WithLock(name = "a")
        public void work() {}
    }

    static class OfFuture {
        @WithLock(name = "a")
        public CompletableFuture<String> work() {
            return null;
        }
    }

    static class OfPublisher {
        @WithLock(name = "a")
        public Publisher<String> work() {
            return null;
        }
    }

    @Test
    void whatReturnsNeitherMonoNorFlux() {
        refused(
                OfText.class,
                "@WithLock on OfText.work(int) of bean 'refusalTest.OfText': it returns String, and only methods"
                        + " that return Mono or Flux and Kotlin's suspend functions can be locked; let it return a Mono,"
                        + " or use LockClient.withLock in it");
        refused(OfNothing.class, "it returns void, and only");
        refused(OfFuture.class, "it returns CompletableFuture, and only");
        refused(OfPublisher.class, "it returns Publisher, and only");
    }

    @SuppressWarnings("UnusedMethod")
    static class Private {
        @WithLock(name = "a")
        private Mono<String> work() {
            return Mono.empty();
        }
    }

    static class Static {
        @WithLock(name = "a")
        static Mono<String> work() {
            return Mono.empty();
        }
    }

    static class WithFinalMethod {
        @WithLock(name = "a")
        public final Mono<String> work() {
            return Mono.empty();
        }
    }

    static final class FinalClass {
        @WithLock(name = "a")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    interface Other {
        Mono<String> other();
    }

    static class NotOfItsInterface implements Other {
        @WithLock(name = "a")
        public Mono<String> work() {
            return Mono.empty();
        }

        @Override
        public Mono<String> other() {
            return Mono.empty();
        }
    }

    @Test
    void whatNoProxyReaches() {
        refused(Private.class, "it is private, so no proxy sees its calls; make it a method that other beans call");
        refused(Static.class, "it is static, so no proxy sees its calls");
        refused(WithFinalMethod.class, "it is final, so no proxy can lock it");
        refused(
                FinalClass.class,
                "@WithLock needs a proxy of bean 'refusalTest.FinalClass', and its class " + FinalClass.class.getName()
                        + " cannot have a subclass; make the class neither final nor private");
        refused(NotOfItsInterface.class, "its bean is proxied by its interfaces, and none of them has it");
    }

    static class OfElsewhere extends OfAnotherPackage {}

    static class Namesake extends OfAnotherPackage {
        public Mono<String> work(LockHandle held) {
            return Mono.empty();
        }
    }

    @Test
    void aMethodWithoutModifierOfASuperclassElsewhere() {
        String why =
                "@WithLock on OfAnotherPackage.work(LockHandle) of bean 'refusalTest.%s': it has no modifier and is"
                        + " of another package or class loader than its bean's %s, so a proxy of that cannot override it;"
                        + " make it public or protected";
        refused(OfElsewhere.class, why.formatted("OfElsewhere", OfElsewhere.class.getName()));
        refused(Namesake.class, why.formatted("Namesake", Namesake.class.getName()));
    }

    static class Nameless {
        @WithLock
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class WithColon {
        @WithLock(name = "a:b")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class UnknownParameter {
        @WithLock(name = "a", key = "'x' + #ids.size()")
        public Mono<String> work(long id, int second) {
            return Mono.empty();
        }
    }

    static class UnquotedText {
        @WithLock(name = "a", key = "id")
        public Mono<String> work(long id) {
            return Mono.empty();
        }
    }

    static class NoExpression {
        @WithLock(name = "a", key = "order #id")
        public Mono<String> work(long id) {
            return Mono.empty();
        }
    }

    static class UnknownBean {
        @WithLock(name = "a", key = "@tenants.current()")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class UnknownPlaceholder {
        @WithLock(name = "${nowhere}")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class TwoHandles {
        @WithLock(name = "a")
        public Mono<String> work(LockHandle one, LockHandle other) {
            return Mono.empty();
        }
    }

    @Test
    void keysThatMeanNothing() {
        refused(Nameless.class, "it has neither name nor key; give it at least one of them");
        refused(WithColon.class, "its name 'a:b' has a colon, which ends a lock's name in metrics; take another sign");
        refused(
                UnknownParameter.class,
                "its key has #ids, which is no parameter; write one of its parameters: #id, #second");
        refused(UnquotedText.class, "its key has id, which is neither a parameter nor a text; write #id or 'id'");
        refused(NoExpression.class, "its key order #id is no SpEL expression");
        refused(UnknownBean.class, "its key has @tenants, and there is no such bean");
        refused(UnknownPlaceholder.class, "nothing is known of its placeholder ${nowhere}; set the property");
        refused(TwoHandles.class, "it has 2 parameters for its hold; leave one of them");
    }

    static class NoDuration {
        @WithLock(name = "a", waitTimeout = "2 parsecs")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class ShortLease {
        @WithLock(name = "a", lease = "5ms")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class ShortHold {
        @WithLock(name = "a", maxHold = "PT0.005S")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class LongerThanTheLongest {
        @WithLock(name = "a", minHold = "2s", maxHold = "1s")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class KeptTooLong {
        @WithLock(name = "a", retention = "31s")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class KeptAndShared {
        @WithLock(name = "a", retention = "5s", shared = true)
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    static class TwoOrders {
        @WithLock(
                name = "a",
                fairness = {Fairness.FIFO, Fairness.COHORT})
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    @Test
    void optionsThatNoLockCanHave() {
        refused(NoDuration.class, "its waitTimeout '2 parsecs' will not do: ");
        refused(ShortLease.class, "its lease '5ms' will not do: lease must be at least 100 ms");
        refused(ShortHold.class, "its maxHold 'PT0.005S' will not do: maxHold must be at least 100 ms");
        refused(LongerThanTheLongest.class, "minHold of PT2S is longer than maxHold of PT1S");
        refused(KeptTooLong.class, "a retention of PT31S cannot be: it is longer than the lease of PT30S");
        refused(KeptAndShared.class, "a retention of PT5S cannot be: only a lock that is not shared can be kept");
        refused(TwoOrders.class, "its fairness is [FIFO, COHORT]; leave one of them");
    }

    static class Good {
        @WithLock(name = "a")
        public Mono<String> work() {
            return Mono.just("ran");
        }
    }

    static class OfSecondClient {
        @WithLock(name = "a", client = "${which}")
        public Mono<String> work() {
            return Mono.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class SecondClient {
        @Bean(destroyMethod = "")
        LockClient second() {
            return LockClient.create(InMemoryLockBackend.create());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NoClient {
        @Bean
        static WithLockBeanPostProcessor withLock() {
            return new WithLockBeanPostProcessor();
        }
    }

    @Test
    void clientsThatAreNotThere() {
        refused(OfSecondClient.class, "there is no LockClient bean 'second'; declare one");
        assertThatThrownBy(() -> Contexts.of(Good.class, SecondClient.class))
                .hasMessageContaining(
                        "there are several LockClients, [lockClient, second]; say which by client = \"…\"");
        assertThatThrownBy(() -> new AnnotationConfigApplicationContext(NoClient.class, Good.class))
                .hasMessageContaining("there is no LockClient bean; declare one");
    }

    private static void refused(Class<?> bean, String message) {
        assertThatThrownBy(() -> Contexts.of(java.util.Map.of("which", "second"), bean))
                .hasMessageContaining(message);
    }
}
