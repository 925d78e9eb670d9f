package io.github.reactivelock.examples;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.Executor;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;
import reactor.util.retry.RetryBackoffSpec;

/**
 * No module uses threads that belong to the application, whose tasks may keep them, and whose tests may replace them by
 * virtual time. Where Reactor has a default, a scheduler is given.
 */
class OwnTimersTest {

    private static final String ROOT = "io.github.reactivelock";
    /** Programs, and what runs in tests. */
    private static final List<String> NO_LIBRARY =
            List.of(ROOT + ".examples", ROOT + ".testkit", ROOT + ".testservers", ROOT + ".cli");

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .withImportOption(
                    location -> NO_LIBRARY.stream().noneMatch(out -> location.contains(out.replace('.', '/'))))
            .importPackages(ROOT);

    private static final Set<String> OF_NO_THREADS_OF_REACTOR =
            Set.of("immediate", "fromExecutor", "fromExecutorService");

    @Test
    void allModulesAreLookedAt() {
        assertThat(MAIN.stream().map(JavaClass::getPackageName))
                .contains(
                        ROOT,
                        ROOT + ".election",
                        ROOT + ".quorum",
                        ROOT + ".redis",
                        ROOT + ".lettuce",
                        ROOT + ".vertx",
                        ROOT + ".etcd",
                        ROOT + ".zookeeper",
                        ROOT + ".consul",
                        ROOT + ".r2dbc",
                        ROOT + ".micrometer",
                        ROOT + ".spring");
    }

    @Test
    void noThreadsOfTheApplicationsSchedulersAreUsed() {
        noClasses()
                .should()
                .callMethodWhere(describe(
                        "it takes a scheduler that the application uses too",
                        call -> call.getTargetOwner().isEquivalentTo(Schedulers.class)
                                && Scheduler.class.isAssignableFrom(result(call))
                                && !OF_NO_THREADS_OF_REACTOR.contains(call.getName())))
                .check(MAIN);
    }

    @Test
    void noOperatorHasReactorsDefaultScheduler() {
        noClasses()
                .should()
                .callMethodWhere(describe(
                        "a scheduler could be given and is not",
                        call -> isOneOf(call, Mono.class, Flux.class) && couldHave(call, Scheduler.class)))
                .check(MAIN);
    }

    @Test
    void noFutureRunsOnTheCommonPool() {
        noClasses()
                .should()
                .callMethodWhere(describe(
                        "an executor could be given and is not, or a timer is shared",
                        call -> call.getTargetOwner().isAssignableTo(CompletionStage.class)
                                && (couldHave(call, Executor.class)
                                        || Set.of("orTimeout", "completeOnTimeout")
                                                .contains(call.getName()))))
                .orShould()
                .callMethod(ForkJoinPool.class, "commonPool")
                .check(MAIN);
    }

    /** Whoever makes one says in the same breath where its pauses run. */
    @Test
    void noRetryHasReactorsDefaultScheduler() {
        noClasses()
                .should()
                .callMethodWhere(describe(
                        "its pauses have no scheduler",
                        call -> call.getTargetOwner().isEquivalentTo(Retry.class)
                                && result(call) == RetryBackoffSpec.class
                                && call.getOrigin().getMethodCallsFromSelf().stream()
                                        .noneMatch(OwnTimersTest::saysWhere)))
                .check(MAIN);
    }

    private static boolean saysWhere(JavaMethodCall call) {
        return call.getTargetOwner().isEquivalentTo(RetryBackoffSpec.class)
                && call.getName().equals("scheduler");
    }

    private static Class<?> result(JavaMethodCall call) {
        return call.getTarget().getRawReturnType().reflect();
    }

    private static boolean isOneOf(JavaMethodCall call, Class<?>... owners) {
        return Stream.of(owners).anyMatch(owner -> call.getTargetOwner().isAssignableTo(owner));
    }

    /** There is a method of the same name that takes all that this one does, and one of those besides. */
    private static boolean couldHave(JavaMethodCall call, Class<?> missing) {
        List<String> given = call.getTarget().getRawParameterTypes().stream()
                .map(JavaClass::getName)
                .toList();
        return !given.contains(missing.getName())
                && Arrays.stream(call.getTargetOwner().reflect().getMethods())
                        .filter(method -> method.getName().equals(call.getName()))
                        .anyMatch(method -> given.equals(without(method, missing)));
    }

    private static List<String> without(Method method, Class<?> missing) {
        List<String> left = new ArrayList<>(
                Arrays.stream(method.getParameterTypes()).map(Class::getName).toList());
        return left.remove(missing.getName()) ? left : List.of("it has none");
    }
}
