package io.github.reactivelock.text;

import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A {@link LinkageError} behind an error of a store: no server is at fault, but jars of different versions on the class
 * path. Drivers tell it like any failed connection, so what a store makes of it would send the reader to the server.
 */
public final class ClassPathFault {

    /** What the JVM calls a class: with dots or slashes, in a sentence of its own. */
    private static final Pattern CLASS = Pattern.compile("\\b((?:[a-z_]\\w*[./])+[A-Z][\\w$]*)");

    private static final Pattern JAR = Pattern.compile("([^/!]+)\\.jar(?:!.*)?$");

    /** Each of Netty's many jars has this file. */
    private static final String NETTY = "META-INF/io.netty.versions.properties";

    private static final Pattern NETTY_VERSION = Pattern.compile("netty-.*?-(\\d[\\d.]*\\w*)");

    private ClassPathFault() {}

    /** What to read instead of the store's words, if there is such an error among what caused this one. */
    public static Optional<String> in(@Nullable Throwable error) {
        return linkage(error, Collections.newSetFromMap(new IdentityHashMap<>()))
                .findFirst()
                .map(found -> told(found, loader()));
    }

    private static Stream<LinkageError> linkage(@Nullable Throwable error, Set<Throwable> seen) {
        if (error == null || !seen.add(error)) {
            return Stream.empty();
        }
        return error instanceof LinkageError found
                ? Stream.of(found)
                : Stream.concat(Stream.of(error.getCause()), Stream.of(error.getSuppressed()))
                        .flatMap(each -> linkage(each, seen));
    }

    private static String told(LinkageError error, ClassLoader loader) {
        Throwable why =
                error instanceof ExceptionInInitializerError && error.getCause() != null ? error.getCause() : error;
        Set<String> jars = new TreeSet<>();
        for (MatchResult named :
                CLASS.matcher(String.valueOf(why.getMessage())).results().toList()) {
            jars.addAll(jars(loader, named.group(1).replace('.', '/') + ".class"));
        }
        boolean isNettys = String.valueOf(why.getMessage()).matches("(?s).*\\bio[./]netty[./].*");
        return "no server is at fault, but the class path: " + why
                + (jars.isEmpty() ? "" : "; it is about " + String.join(", ", jars))
                + (isNettys ? versions(loader) : "")
                + "; drivers need jars of one version: "
                + (isNettys
                        ? "import io.netty:netty-bom in the build"
                        : "look which libraries ask for which, and name one");
    }

    private static String versions(ClassLoader loader) {
        Set<String> versions = jars(loader, NETTY).stream()
                .filter(jar -> !jar.contains("tcnative"))
                .map(NETTY_VERSION::matcher)
                .filter(Matcher::lookingAt)
                .map(version -> version.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        return versions.size() < 2 ? "" : "; Netty is there in the versions " + String.join(" and ", versions);
    }

    private static ClassLoader loader() {
        ClassLoader ofTheThread = Thread.currentThread().getContextClassLoader();
        ClassLoader ours = ClassPathFault.class.getClassLoader();
        return ofTheThread != null ? ofTheThread : ours == null ? ClassLoader.getSystemClassLoader() : ours;
    }

    /** Names of the jars that have a file. */
    private static Set<String> jars(ClassLoader loader, String file) {
        List<URL> found;
        try {
            found = Collections.list(loader.getResources(file));
        } catch (IOException e) { // then the error speaks for itself
            found = List.of();
        }
        return found.stream()
                .map(url -> JAR.matcher(url.getPath()))
                .filter(Matcher::find)
                .map(jar -> jar.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
