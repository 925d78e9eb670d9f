package io.github.reactivelock.examples;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What holds for packages. Classes are those of the modules that this one depends on: all that are published, without
 * that for Kotlin. The command line, the benchmarks, the faults and the simulation are seen by their imports.
 */
class PackagesTest {

    private static final String ROOT = "io.github.reactivelock";
    /** Of the core's root package these make an engine; the engine sees what else is there, and not them. */
    private static final Set<String> DOOR = Set.of(ROOT + ".LockClient", ROOT + ".LockClientBuilder");

    private static final Pattern IMPORT =
            Pattern.compile("(?m)^import (?:static )?(io\\.github\\.reactivelock[a-z0-9.]*)\\.[A-Z]");

    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(new ImportOption.DoNotIncludeTests())
            .importPackages(ROOT);

    /** Without Vert.x, whose package is the API for its users too and so sees that of the core. */
    private static final String[] STORES = Stream.of(
                    "quorum", "redis", "lettuce", "etcd", "zookeeper", "consul", "r2dbc")
            .map(store -> ROOT + "." + store + "..")
            .toArray(String[]::new);

    @Test
    void noModuleHasACircleOfPackages() {
        slices().assignedFrom(new SliceAssignment() {
                    @Override
                    public SliceIdentifier getIdentifierOf(JavaClass javaClass) {
                        return SliceIdentifier.of(isTheDoor(javaClass) ? "door" : javaClass.getPackageName());
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

    /** All but the core, whose door is a package of its own only to the test above. */
    static Stream<Path> sources() throws IOException {
        try (Stream<Path> modules = Files.list(Path.of(".."))) {
            return modules
                    .filter(module -> !module.endsWith("reactive-lock-core"))
                    .flatMap(module -> Stream.of("java", "kotlin").map(module.resolve("src/main")::resolve))
                    .filter(Files::isDirectory)
                    .toList()
                    .stream();
        }
    }

    @ParameterizedTest
    @MethodSource("sources")
    void noModuleImportsInACircle(Path sources) throws IOException {
        Map<String, Set<String>> open = imports(sources);
        assertThat(open).isNotEmpty();
        boolean goesOn = true;
        while (goesOn) {
            Set<String> left = Set.copyOf(open.keySet());
            goesOn = open.values().removeIf(seen -> seen.stream().noneMatch(left::contains));
        }
        assertThat(open.keySet()).as("packages on a circle, or that see one").isEmpty();
    }

    /** What each package of a module imports of ours. */
    private static Map<String, Set<String>> imports(Path sources) throws IOException {
        Map<String, Set<String>> imports = new TreeMap<>();
        try (Stream<Path> all = Files.walk(sources)) {
            for (Path file : all.filter(Files::isRegularFile).toList()) {
                String home = sources.relativize(file.getParent()).toString().replace('/', '.');
                Set<String> seen = imports.computeIfAbsent(home, name -> new TreeSet<>());
                IMPORT.matcher(Files.readString(file)).results().forEach(line -> seen.add(line.group(1)));
                seen.remove(home);
            }
        }
        return imports;
    }

    @Test
    void nothingOutsideTheCoreSeesItsEngine() {
        noClasses()
                .that(describe("no door and not in the engine", type -> !isTheDoor(type)))
                .and()
                .resideOutsideOfPackage(ROOT + ".engine..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".engine..")
                .check(MAIN);
    }

    /** The packages whose public types are few and named here. */
    static Stream<Arguments> publicTypes() {
        return Stream.of(
                Arguments.of("quorum", Set.of("QuorumLockBackend")),
                Arguments.of("lettuce", Set.of("LettuceLockBackend")),
                Arguments.of("etcd", Set.of("EtcdBackendOptions", "EtcdFencingGuard", "EtcdLockBackend")),
                Arguments.of(
                        "zookeeper",
                        Set.of("ZooKeeperBackendOptions", "ZooKeeperFencingGuard", "ZooKeeperLockBackend")),
                Arguments.of(
                        "consul",
                        Set.of(
                                "ConsulBackendOptions",
                                "ConsulFencingGuard",
                                "ConsulFencingGuard$Change",
                                "ConsulLockBackend")),
                Arguments.of(
                        "r2dbc",
                        Set.of(
                                "AdvisoryLocks",
                                "Once",
                                "R2dbcBackendOptions",
                                "R2dbcFencingGuard",
                                "R2dbcLockBackend",
                                "RowLocks")),
                Arguments.of(
                        "micrometer",
                        Set.of(
                                "LockObservation$Events",
                                "LockObservation$Keys",
                                "LockMeter",
                                "LockObservation",
                                "LockObservationContext",
                                "LockObservations",
                                "LockObservation$TraceKeys")));
    }

    @ParameterizedTest
    @MethodSource("publicTypes")
    void whatAUserImportsIsThisAndNoMore(String module, Set<String> types) {
        String home = ROOT + "." + module;
        assertThat(MAIN.stream()
                        .filter(type -> (type.getPackageName() + ".").startsWith(home + "."))
                        .filter(type -> type.getModifiers().contains(JavaModifier.PUBLIC))
                        .filter(type -> type.getEnclosingClass()
                                .filter(around -> !around.getModifiers().contains(JavaModifier.PUBLIC))
                                .isEmpty())
                        .filter(type -> !type.getSimpleName().equals("package-info"))
                        .map(type -> type.getName().substring(home.length() + 1)))
                .containsExactlyInAnyOrderElementsOf(types);
    }

    /** But for the test kit, whose hook carries what an agent's does. */
    @Test
    void noClassTiesStateToAThread() {
        noClasses()
                .that()
                .resideOutsideOfPackage(ROOT + ".testkit..")
                .should()
                .dependOnClassesThat()
                .areAssignableTo(ThreadLocal.class)
                .check(MAIN);
    }

    @Test
    void noStoreWaitsForAFuture() {
        for (String method : List.of("get", "join")) {
            noClasses()
                    .that()
                    .resideInAnyPackage(STORES)
                    .or()
                    .resideInAPackage(ROOT + ".vertx..")
                    .should()
                    .callMethod(CompletableFuture.class, method)
                    .check(MAIN);
        }
    }

    @Test
    void aStoreSeesTheSpiAndNeitherTheApiNorTheStoreInMemory() {
        noClasses()
                .that()
                .resideInAnyPackage(STORES)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT, ROOT + ".memory..")
                .check(MAIN);
    }

    @Test
    void metricsAreOfTheApiAndOfNoStore() {
        noClasses()
                .that()
                .resideInAPackage(ROOT + ".micrometer..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(ROOT + ".spi", ROOT + ".memory..")
                .check(MAIN);
    }

    private static boolean isTheDoor(JavaClass javaClass) {
        String name = javaClass.getName();
        return DOOR.stream().anyMatch(door -> name.equals(door) || name.startsWith(door + "$"));
    }
}
