package io.github.reactivelock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;
import java.util.zip.ZipOutputStream;

/**
 * A project of somebody else: no module of this build and without its parent, made with the artefacts of this build as
 * they would be published.
 *
 * @param name which of {@code src/test/projects}
 * @param boot the version of Spring Boot
 */
record NewProject(String name, String boot) {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path SOURCES = Path.of("src/test/projects").toAbsolutePath();
    private static final String GROUP = "io/github/reactivelock";

    /** Netty's native parts, which not every repository has; without them an application takes plain NIO. */
    private static final String EXCLUSIONS = Stream.of(
                    "netty-codec-native-quic", "netty-resolver-dns-native-macos", "netty-transport-native-epoll")
            .map(name -> "<exclusion><groupId>io.netty</groupId><artifactId>" + name + "</artifactId></exclusion>")
            .collect(Collectors.joining("", "<exclusions>", "</exclusions>"));

    /** Builds all of them with one Maven, started here. */
    static void build(Path directory, List<NewProject> projects) throws Exception {
        Path published = publish(directory.resolve("repository"));
        StringBuilder modules = new StringBuilder();
        for (NewProject project : projects) {
            project.copyTo(directory);
            modules.append("<module>").append(project).append("</module>");
        }
        Files.writeString(
                directory.resolve("pom.xml"),
                "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>"
                        + "<groupId>com.example</groupId><artifactId>all</artifactId><version>1</version>"
                        + "<packaging>pom</packaging><modules>" + modules + "</modules></project>");
        List<String> command = new ArrayList<>(
                List.of(System.getProperty("reactivelock.maven.home") + "/bin/mvn", "-B", "-q", "-ntp"));
        if (System.getProperty("reactivelock.maven.offline", "").equals("offline=true")) {
            command.add("-o");
        }
        command.addAll(List.of("-Dmaven.repo.local=" + published, "package"));
        Process maven = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(maven.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(maven.waitFor()).as(said).isZero();
    }

    /** A local repository like the user's, with the modules of this build in place of any of them. */
    private static Path publish(Path repository) throws IOException {
        Path users = Path.of(System.getProperty("reactivelock.maven.repository"));
        Files.createDirectories(repository.resolve(GROUP));
        for (String level : List.of("", "io", "io/github")) {
            try (Stream<Path> entries = Files.list(users.resolve(level))) {
                for (Path entry : entries.toList()) {
                    Path link = repository.resolve(users.relativize(entry).toString());
                    if (!Files.exists(link)) {
                        Files.createSymbolicLink(link, entry);
                    }
                }
            }
        }
        for (String entry : System.getProperty("surefire.test.class.path", System.getProperty("java.class.path"))
                .split(File.pathSeparator, -1)) {
            Path classes = Path.of(entry);
            if (classes.startsWith(ROOT) && !classes.endsWith("test-classes")) {
                publish(ROOT.relativize(classes).getName(0).toString(), classes, repository);
            }
        }
        return repository;
    }

    /** Of the modules on this class path only: others may be under way. */
    private static void publish(String module, Path classes, Path repository) throws IOException {
        Path pom = ROOT.resolve(module).resolve("target/flattened-pom.xml");
        String version = version(pom);
        Path target = Files.createDirectories(
                repository.resolve(GROUP).resolve(module).resolve(version));
        Files.copy(pom, target.resolve(module + "-" + version + ".pom"));
        Path jar = target.resolve(module + "-" + version + ".jar");
        if (Files.isDirectory(classes)) {
            pack(classes, jar);
        } else {
            Files.copy(classes, jar);
        }
    }

    private static String version(Path pom) throws IOException {
        Matcher version = Pattern.compile("<version>([^<]+)").matcher(Files.readString(pom));
        assertThat(version.find()).isTrue();
        return version.group(1);
    }

    private static void pack(Path classes, Path jar) throws IOException {
        try (Stream<Path> files = Files.walk(classes);
                OutputStream out = Files.newOutputStream(jar);
                ZipOutputStream zip = new ZipOutputStream(out)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                zip.putNextEntry(
                        new ZipEntry(classes.relativize(file).toString().replace('\\', '/')));
                Files.copy(file, zip);
                zip.closeEntry();
            }
        }
    }

    private void copyTo(Path directory) throws IOException {
        Path from = SOURCES.resolve(name);
        Path to = directory.resolve(toString());
        String ours = version(ROOT.resolve("reactive-lock-core/target/flattened-pom.xml"));
        try (Stream<Path> files = Files.walk(from)) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                Path copy = to.resolve(from.relativize(file).toString());
                Files.createDirectories(copy.getParent());
                Files.copy(file, copy);
            }
        }
        Path pom = to.resolve("pom.xml");
        Files.writeString(
                pom,
                Files.readString(pom)
                        .replaceAll("(starter-parent</artifactId>\\s*<version>)[^<]+", "$1" + boot)
                        .replaceAll("(reactive-lock-[^<]+</artifactId>\\s*<version>)[^<]+", "$1" + ours)
                        .replace("</dependency>", EXCLUSIONS + "</dependency>")
                        .replaceAll("(com.example</groupId>\\s*<artifactId>)[^<]+", "$1" + this));
    }

    /** What it is started from. */
    Path jar(Path directory) {
        return directory.resolve(this + "/target/" + this + "-1.jar");
    }

    /** The names of the libraries that it got. */
    List<String> libraries(Path directory) {
        try (ZipFile jar = new ZipFile(jar(directory).toFile())) {
            return jar.stream()
                    .map(ZipEntry::getName)
                    .filter(entry -> entry.startsWith("BOOT-INF/lib/") && entry.endsWith(".jar"))
                    .map(entry -> entry.substring("BOOT-INF/lib/".length()))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /**
     * What its author wrote beyond what start.spring.io generates: without the names of packages, imports and blank
     * lines.
     */
    List<String> ownLines() throws IOException {
        Pattern generated =
                Pattern.compile("package .*|import .*|@SpringBootApplication|public class \\w+Application \\{"
                        + "|public static void main\\(String\\[] args\\) \\{|SpringApplication.run\\(.*|}|");
        List<String> own = new ArrayList<>();
        try (Stream<Path> files = Files.walk(SOURCES.resolve(name).resolve("src/main"))) {
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                List<String> lines = Files.readAllLines(file).stream()
                        .map(String::strip)
                        .filter(line -> !generated.matcher(line).matches())
                        .toList();
                own.addAll(lines);
            }
        }
        return own;
    }

    @Override
    public String toString() {
        return name + "-on-" + boot;
    }
}
