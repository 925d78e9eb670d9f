package io.github.reactivelock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.json.JsonParser;
import org.springframework.boot.json.JsonParserFactory;

/**
 * What a native image cannot find out by itself is named in the jar, in the form that every GraalVM from JDK 17 on
 * reads: the files that a module loads, and the two types that are looked up by name. There is no further reflection.
 */
class NativeImageTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final String GROUP = "io.github.reactivelock";

    /** In nobody's image; and what reads annotations, for which Spring makes the metadata (WithLockHintsTest). */
    private static final Set<String> OTHERS = Set.of(GROUP + ".examples", GROUP + ".testkit", GROUP + ".spring");

    /** Who looks up a type that may not be there, and which. */
    private static final Map<String, Map<String, String>> LOOKED_UP = Map.of(
            "reactive-lock-r2dbc",
            Map.of(
                    GROUP + ".r2dbc.Wrappers",
                    "org.springframework.transaction.reactive.TransactionContext#getResources"),
            "reactive-lock-vertx",
            Map.of(GROUP + ".vertx.VertxVersion", "io.vertx.core.internal.VertxInternal"));

    private static final Pattern CONDITION = Pattern.compile("\"typeReachable\": \"(" + GROUP + "[^\"]+)\"");
    private static final Set<String> REFLECTION = Set.of("java.lang.reflect", "java.lang.invoke");
    private static final Set<String> HARMLESS = Set.of(
            "getName",
            "getSimpleName",
            "getPackage",
            "getSuperclass",
            "getClassLoader",
            "isInstance",
            "cast",
            "hashCode",
            "equals",
            "toString",
            "desiredAssertionStatus",
            "getResourceAsStream");

    /** Those that an application has; the test kit is for its tests. */
    static Stream<String> modules() {
        return PublishedPomsTest.modules().filter(module -> !module.endsWith("-testkit"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void everyFileOfAModuleIsNamedAndIsThere(String module) throws IOException {
        Path resources = ROOT.resolve(module).resolve("src/main/resources");

        assertThat(namedFiles(module)).isEqualTo(files(resources));
    }

    @Test
    void theTypesThatAreLookedUpByNameAreNamed() throws IOException {
        for (String module : modules().toList()) {
            assertThat(namedTypes(module))
                    .as(module)
                    .containsExactlyInAnyOrderElementsOf(
                            LOOKED_UP.getOrDefault(module, Map.of()).values());
        }
    }

    @ParameterizedTest
    @MethodSource("modules")
    void whatMakesThemReachableIsAClassOfTheModule(String module) throws IOException {
        for (String file : List.of("resource-config.json", "reflect-config.json")) {
            Path config = config(module, file);
            Matcher condition = CONDITION.matcher(Files.exists(config) ? Files.readString(config) : "");
            while (condition.find()) {
                assertThat(ROOT.resolve(
                                module + "/src/main/java/" + condition.group(1).replace('.', '/') + ".java"))
                        .isRegularFile();
            }
        }
    }

    @Test
    void nothingElseUsesReflection() {
        Set<String> reflecting = new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests()).importPackages(GROUP).stream()
                        .filter(type -> OTHERS.stream().noneMatch(type.getPackageName()::startsWith))
                        .filter(type -> type.getAccessesFromSelf().stream().anyMatch(NativeImageTest::isReflection))
                        .map(JavaClass::getName)
                        .collect(Collectors.toSet());

        assertThat(reflecting)
                .containsExactlyInAnyOrderElementsOf(LOOKED_UP.values().stream()
                        .flatMap(types -> types.keySet().stream())
                        .toList());
    }

    private static boolean isReflection(JavaAccess<?> access) {
        AccessTarget target = access.getTarget();
        return REFLECTION.contains(target.getOwner().getPackageName())
                || (target.getOwner().isEquivalentTo(Class.class) && !HARMLESS.contains(target.getName()))
                || (target.getOwner().isAssignableTo(ClassLoader.class)
                        && target.getName().equals("loadClass"));
    }

    private static Set<String> files(Path resources) throws IOException {
        if (!Files.isDirectory(resources)) {
            return Set.of();
        }
        try (Stream<Path> all = Files.walk(resources)) {
            return all.filter(Files::isRegularFile)
                    .map(file -> resources.relativize(file).toString().replace('\\', '/'))
                    .filter(name -> !name.startsWith("META-INF/"))
                    .collect(Collectors.toSet());
        }
    }

    private static Set<String> namedFiles(String module) throws IOException {
        Path config = config(module, "resource-config.json");
        if (!Files.exists(config)) {
            return Set.of();
        }
        Map<?, ?> resources =
                (Map<?, ?>) json().parseMap(Files.readString(config)).get("resources");
        return ((List<?>) resources.get("includes"))
                .stream()
                        .map(include -> (String) ((Map<?, ?>) include).get("pattern"))
                        .map(pattern -> pattern.substring("\\Q".length(), pattern.length() - "\\E".length()))
                        .collect(Collectors.toSet());
    }

    private static List<String> namedTypes(String module) throws IOException {
        Path config = config(module, "reflect-config.json");
        if (!Files.exists(config)) {
            return List.of();
        }
        return json().parseList(Files.readString(config)).stream()
                .map(type -> (Map<?, ?>) type)
                .map(type -> type.get("name")
                        + (type.get("methods") instanceof List<?> methods
                                ? "#" + ((Map<?, ?>) methods.get(0)).get("name")
                                : ""))
                .toList();
    }

    private static Path config(String module, String file) {
        return ROOT.resolve(module)
                .resolve("src/main/resources/META-INF/native-image/io.github.reactivelock")
                .resolve(module)
                .resolve(file);
    }

    private static JsonParser json() {
        return JsonParserFactory.getJsonParser();
    }
}
