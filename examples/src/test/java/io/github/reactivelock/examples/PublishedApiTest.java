package io.github.reactivelock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collector;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What is public or protected in a published module is what {@code config/api} says. Nothing of it changes by accident,
 * and a change shows in review as lines of a file. {@code -Dreactivelock.api=write} writes the files anew.
 */
class PublishedApiTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final String OURS = "io.github.reactivelock.";
    private static final boolean WRITES =
            System.getProperty("reactivelock.api", "").equals("write");
    private static final String ADVICE = """
            The public API of %s is not what config/api says. A line that goes or changes breaks a user; a new one with \
            'abstract' breaks those who implement the type. CONTRIBUTING, "Compatibility", says what is allowed then, \
            and how to write the file anew.
            """;

    /** As they stand in a list of Maven's dependency plugin. */
    private static final Pattern LIBRARY = Pattern.compile(
            "\\d+ (?<group>[^:]+):(?<name>[^:]+):jar:((?<classifier>[^:]+):)?(?<version>[^:]+):[a-z]+\\b.*");

    /**
     * No module exports the first two, the third is what the adapters share; the others are internal in Kotlin, which
     * Java does not see.
     */
    private static final Pattern INSIDE = Pattern.compile(Pattern.quote(OURS)
            + "((engine|text|adapters)\\..*|kotlin\\.(Locks|UnderLockKt)|spring\\.SuspendedCall.*)");

    static Stream<String> modules() {
        return PublishedPomsTest.modules();
    }

    @ParameterizedTest
    @MethodSource("modules")
    void whatAModuleOffersIsWhatItsListSays(String module) throws Exception {
        Path list = ROOT.resolve("config/api").resolve(module + ".txt");
        SortedSet<String> offered = offered(module);
        if (WRITES) {
            Files.write(list, offered);
        }

        List<String> listed = Files.readAllLines(list);

        assertThat(offered).isNotEmpty();
        assertThat(differences(listed, offered))
                .as(() -> ADVICE.formatted(module))
                .isEmpty();
    }

    private static List<String> differences(Collection<String> listed, Collection<String> offered) {
        return Stream.concat(
                        listed.stream().filter(line -> !offered.contains(line)).map(line -> "gone: " + line),
                        offered.stream().filter(line -> !listed.contains(line)).map(line -> "new: " + line))
                .toList();
    }

    private static SortedSet<String> offered(String module) throws IOException, ClassNotFoundException {
        SortedSet<String> lines = new TreeSet<>();
        Path classes = ROOT.resolve(module).resolve("target/classes");
        try (URLClassLoader loader = new URLClassLoader(surroundings(module), ClassLoader.getPlatformClassLoader());
                Stream<Path> files = Files.walk(classes)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                String name = classes.relativize(file).toString().replace(File.separatorChar, '.');
                if (name.startsWith(OURS) && name.endsWith(".class") && !name.endsWith("-info.class")) {
                    describe(Class.forName(name.substring(0, name.length() - ".class".length()), false, loader), lines);
                }
            }
        }
        return lines;
    }

    /** The module's classes, those of its neighbours, and the libraries that it was tested with. */
    private static URL[] surroundings(String module) throws IOException {
        List<URL> places = new ArrayList<>();
        for (String each : Stream.concat(Stream.of(module), modules()).toList()) {
            places.add(ROOT.resolve(each).resolve("target/classes").toUri().toURL());
        }
        Path repository = Path.of(System.getProperty("reactivelock.maven.repository"));
        for (String line : Files.readAllLines(ROOT.resolve(module).resolve("target/tested-dependencies.tgf"))) {
            Matcher library = LIBRARY.matcher(line);
            if (library.matches()) {
                String version = library.group("version");
                String classifier = library.group("classifier") == null ? "" : "-" + library.group("classifier");
                places.add(repository
                        .resolve(library.group("group").replace('.', '/'))
                        .resolve(library.group("name"))
                        .resolve(version)
                        .resolve(library.group("name") + "-" + version + classifier + ".jar")
                        .toUri()
                        .toURL());
            }
        }
        return places.toArray(new URL[0]);
    }

    private static void describe(Class<?> type, SortedSet<String> lines) {
        if (!isOffered(type) || INSIDE.matcher(type.getName()).matches()) {
            return;
        }
        lines.add(type.getName() + " " + header(type));
        members(type)
                .filter(PublishedApiTest::isOffered)
                .map(PublishedApiTest::describe)
                .forEach(member -> lines.add(type.getName() + "# " + member));
    }

    private static String header(Class<?> type) {
        List<Type> above = new ArrayList<>();
        Class<?> superclass = type.getSuperclass();
        if (superclass != null && superclass != Object.class && isOffered(superclass)) {
            above.add(type.getGenericSuperclass());
        }
        above.addAll(List.of(type.getGenericInterfaces()));
        String kind = type.isInterface() ? "" : type.isEnum() ? " enum" : type.isRecord() ? " record" : " class";
        return Modifier.toString(type.getModifiers() & ~Modifier.SYNCHRONIZED)
                + kind
                + variables(type.getTypeParameters())
                + above.stream().map(Type::getTypeName).sorted().collect(joined(" is "))
                + permitted(type);
    }

    private static String permitted(Class<?> type) {
        return type.isSealed()
                ? Arrays.stream(type.getPermittedSubclasses())
                        .filter(PublishedApiTest::isOffered)
                        .map(Class::getName)
                        .sorted()
                        .collect(joined(" permits "))
                : "";
    }

    private static String variables(TypeVariable<?>[] variables) {
        return variables.length == 0
                ? ""
                : Arrays.stream(variables)
                        .map(variable -> variable
                                + Arrays.stream(variable.getBounds())
                                        .map(Type::getTypeName)
                                        .collect(joined(" extends ")))
                        .collect(Collectors.joining(", ", "<", ">"));
    }

    private static Collector<CharSequence, ?, String> joined(String before) {
        return Collectors.collectingAndThen(Collectors.joining(", "), text -> text.isEmpty() ? "" : before + text);
    }

    /** Of a supertype that a user does not see, its members are the type's own. */
    private static Stream<Member> members(Class<?> type) {
        Stream<Member> own = Stream.of(
                        type.getDeclaredFields(), type.getDeclaredConstructors(), type.getDeclaredMethods())
                .flatMap(Arrays::stream)
                .filter(member -> !(member instanceof Method method && method.isBridge()))
                .map(Member.class::cast);
        Stream<Member> hidden = Stream.concat(
                        Stream.ofNullable(type.getSuperclass()), Arrays.stream(type.getInterfaces()))
                .filter(above -> !isOffered(above))
                .flatMap(PublishedApiTest::members)
                .filter(member -> !(member instanceof Constructor));
        return Stream.concat(own, hidden);
    }

    private static boolean isOffered(Class<?> type) {
        boolean isOffered = isOffered(type.getModifiers()) && !type.isSynthetic() && !type.isAnonymousClass();
        return isOffered && (type.getEnclosingClass() == null || isOffered(type.getEnclosingClass()));
    }

    /** What Kotlin makes for its own inner classes is called by them alone. */
    private static boolean isOffered(Member member) {
        return isOffered(member.getModifiers()) && !member.getName().startsWith("access$");
    }

    private static boolean isOffered(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    /** Without the name of its type before its own, and without what only its code needs. */
    private static String describe(Member member) {
        String owner = member.getDeclaringClass().getTypeName();
        String text = member instanceof Field field ? field.toGenericString() : ((Executable) member).toGenericString();
        String hasDefault = member instanceof Method method && method.getDefaultValue() != null ? " default" : "";
        return text.replace(" " + owner + ".", " ").replaceAll("\\b(synchronized|native|volatile|transient) ", "")
                + hasDefault;
    }
}
