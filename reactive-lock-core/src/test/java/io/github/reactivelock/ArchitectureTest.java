package io.github.reactivelock;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaMethodCall;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import reactor.core.CorePublisher;

/** Which package sees which, what is public, and what no class does. */
class ArchitectureTest {

    private static final String ROOT = "io.github.reactivelock";
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    /** Of the root package these alone see the engine. */
    private static final Set<String> DOOR = Set.of(ROOT + ".LockClient", ROOT + ".LockClientBuilder");

    private static final String[] LIBRARIES = {
        "java..", "org.reactivestreams..", "org.jspecify..", "org.crac..", "reactor.."
    };
    private static final Set<String> BLOCKING =
            Set.of("block", "blockFirst", "blockLast", "blockOptional", "toIterable", "toStream");
    private static final Map<Class<?>, String> WAITING = Map.of(
            Thread.class, "sleep",
            LockSupport.class, "park",
            Future.class, "get",
            CompletableFuture.class, "join",
            CountDownLatch.class, "await",
            Semaphore.class, "acquire",
            Lock.class, "lock");

    /** The root package is two: what a user imports, which the engine sees too, and the door, which makes an engine. */
    @Test
    void packagesHaveNoCycles() {
        slices().assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                        return isTheDoor(javaClass)
                                ? SliceIdentifier.of("door")
                                : SliceIdentifier.of(javaClass.getPackageName());
                    }

                    @Override
                    public String getDescription() {
                        return "packages";
                    }
                })
                .should()
                .beFreeOfCycles()
                .check(MAIN);
    }

    private static boolean isTheDoor(JavaClass javaClass) {
        String name = javaClass.getName();
        return DOOR.stream().anyMatch(door -> name.equals(door) || name.startsWith(door + "$"));
    }

    @Test
    void onlyTheDoorSeesTheEngine() {
        noClasses()
                .that(describe("no door and not in the engine", type -> !isTheDoor(type)))
                .and()
                .resideOutsideOfPackage(ROOT + ".engine..")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + ".engine..")
                .check(MAIN);
    }

    @Test
    void onlyTheRootAndTheEngineSeeTheTexts() {
        noClasses()
                .that()
                .resideOutsideOfPackages(ROOT, ROOT + ".engine..", ROOT + ".text")
                .should()
                .dependOnClassesThat()
                .resideInAPackage(ROOT + ".text")
                .check(MAIN);
    }

    @Test
    void theEngineSeesNoDoor() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".engine..")
                .should()
                .dependOnClassesThat(describe("are the door", ArchitectureTest::isTheDoor))
                .check(MAIN);
    }

    @Test
    void theSpiSeesItselfAndWhatAStoreSays() {
        classes()
                .that()
                .resideInAPackage(ROOT + ".spi..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES)
                        .or(resideInAnyPackage(ROOT + ".spi..", ROOT + ".state..", "org.slf4j..")))
                .check(MAIN);
    }

    @Test
    void whatAStoreSaysSeesNothingButItself() {
        classes()
                .that()
                .resideInAPackage(ROOT + ".state..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES).or(resideInAnyPackage(ROOT + ".state..")))
                .check(MAIN);
    }

    @Test
    void theStoreInMemorySeesTheSpiOnly() {
        classes()
                .that()
                .resideInAPackage(ROOT + ".memory..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES)
                        .or(resideInAnyPackage(ROOT + ".spi..", ROOT + ".state..", ROOT + ".memory..", "org.slf4j..")))
                .check(MAIN);
    }

    @Test
    void anElectionSeesWhatAUserSees() {
        classes()
                .that()
                .resideInAPackage(ROOT + ".election..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES)
                        .or(resideInAnyPackage(ROOT, ROOT + ".state..", ROOT + ".spi.support..", ROOT + ".election..")))
                .check(MAIN);
    }

    @Test
    void theEngineKnowsNoStore() {
        classes()
                .that()
                .resideInAnyPackage(ROOT, ROOT + ".engine..")
                .should()
                .onlyDependOnClassesThat(resideInAnyPackage(LIBRARIES)
                        .or(resideInAnyPackage(
                                ROOT,
                                ROOT + ".engine..",
                                ROOT + ".text",
                                ROOT + ".spi..",
                                ROOT + ".state..",
                                "org.slf4j..")))
                .check(MAIN);
    }

    @Test
    void whatAUserImportsIsThisAndNoMore() {
        assertThat(MAIN.stream()
                        .filter(type -> type.getPackageName().equals(ROOT))
                        .filter(type -> type.getEnclosingClass().isEmpty())
                        .map(type -> type.getModifiers().contains(JavaModifier.PUBLIC)
                                ? type.getSimpleName()
                                : type.getSimpleName() + ", which is not public")
                        .filter(name -> !name.startsWith("package-info")))
                .containsExactlyInAnyOrder(
                        "Fairness",
                        "HoldState",
                        "LockClient",
                        "LockClientBuilder",
                        "LockClientClosedException",
                        "LockContext",
                        "LockException",
                        "LockHandle",
                        "LockListener",
                        "LockLostException",
                        "LockOptions",
                        "LockRequest",
                        "LockTimeoutException",
                        "LockUnavailableException");
    }

    /** {@code BlockHoundAllowances} cannot import them, because the SPI sees no other package of the core. */
    @Test
    void whatBlockHoundKnowsByNameIsThere() throws IOException {
        String allowances =
                Files.readString(Path.of("src/main/java/io/github/reactivelock/spi/support/BlockHoundAllowances.java"));

        assertThat(Pattern.compile("\"(io\\.github\\.reactivelock\\.[\\w.]+)\", \"(\\w+)\"")
                        .matcher(allowances)
                        .results()
                        .toList())
                .hasSize(2)
                .allSatisfy(named -> assertThat(MAIN.get(named.group(1)).getMethods())
                        .anyMatch(method -> method.getName().equals(named.group(2))));
    }

    @Test
    void noClassBlocksAThread() {
        noClasses()
                .should()
                .callMethodWhere(describe("it blocks", ArchitectureTest::blocks))
                .check(MAIN);
    }

    private static boolean blocks(JavaMethodCall call) {
        String caller = call.getOriginOwner().getName();
        if (caller.contains(".WorkThreads") || caller.endsWith(".OwnScheduler")) { // their own threads, there to wait
            return false;
        }
        String method = call.getTarget().getName();
        JavaClass owner = call.getTargetOwner();
        if (owner.isAssignableTo(CorePublisher.class)) {
            return BLOCKING.contains(method);
        }
        return WAITING.entrySet().stream()
                .anyMatch(waits -> owner.isAssignableTo(waits.getKey()) && method.startsWith(waits.getValue()));
    }

    @Test
    void noMethodOfTheEngineIsToldYesOrNo() {
        assertThat(MAIN.stream()
                        .filter(type -> type.getPackageName().equals(ROOT)
                                || type.getPackageName().startsWith(ROOT + ".engine"))
                        .flatMap(type -> type.getCodeUnits().stream())
                        .filter(unit -> !unit.getModifiers().contains(JavaModifier.SYNTHETIC))
                        .filter(unit -> unit.getRawParameterTypes().stream()
                                .anyMatch(type -> type.getName().equals("boolean")))
                        .map(JavaCodeUnit::getFullName))
                .isEmpty();
    }

    @Test
    void everyErrorCanBeMadeByATestOfAnApplication() {
        assertThat(MAIN.stream()
                        .filter(type -> type.isAssignableTo(Throwable.class))
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> !type.getModifiers().contains(JavaModifier.ABSTRACT))
                        .filter(type -> type.getConstructors().stream()
                                .noneMatch(made -> made.getModifiers().contains(JavaModifier.PUBLIC)))
                        .map(JavaClass::getName))
                .isEmpty();
    }
}
