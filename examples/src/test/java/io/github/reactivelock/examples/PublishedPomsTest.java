package io.github.reactivelock.examples;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * What Maven gives to a project that names one of our modules is what this build tested with, whatever version the
 * drivers ask for. One Maven, started here, resolves small projects against the poms as they are published; no pom of
 * this build is near, so nothing but their own words decides.
 */
class PublishedPomsTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final String GROUP = "io.github.reactivelock";
    private static final Pattern ARTIFACT = Pattern.compile(
            "\\d+ (?<name>[^:]+:[^:]+:jar(:[^:]+)?):(?<version>[^:]+):(?<scope>compile|runtime|test|provided)");
    private static final String COROUTINES =
            dependency("org.jetbrains.kotlinx", "kotlinx-coroutines-reactor", "1.10.2");

    private static final Map<String, String> OLDEST = Map.of(
            "io.lettuce:lettuce-core:jar", "lettuce",
            "io.projectreactor:reactor-core:jar", "reactor",
            "io.netty:netty-common:jar", "netty",
            "io.netty:netty-transport:jar", "netty",
            "io.netty:netty-handler:jar", "netty",
            "io.netty:netty-resolver-dns:jar", "netty");

    @TempDir
    private static Path directory;

    @BeforeAll
    static void resolve() throws Exception {
        String maven = System.getProperty("reactivelock.maven.home", "");
        assumeTrue(!maven.isEmpty(), "run by Maven only, which tells where it is");
        List<String> names = new ArrayList<>();
        String version = "";
        for (String module : modules().toList()) {
            String published = Files.readString(ROOT.resolve(module).resolve("target/flattened-pom.xml"));
            Matcher found = Pattern.compile("<version>([^<]+)").matcher(published);
            assertThat(found.find()).isTrue();
            version = found.group(1);
            names.add(write(module, published));
        }
        for (String module : modules().toList()) {
            String ours = dependency(GROUP, module, version);
            names.add(write("plain-" + module, project("plain-" + module, dependencies(ours))));
            names.add(write("kotlin-" + module, project("kotlin-" + module, dependencies(ours + COROUTINES))));
        }
        String netty = imported("io.netty", "netty-bom", property("netty"));
        for (String pair : pairs().toList()) {
            StringBuilder both = new StringBuilder();
            for (String store : pair.split("-", -1)) {
                both.append(dependency(GROUP, "reactive-lock-" + store, version));
                both.append(store.equals("r2dbc") ? databases() : "");
            }
            names.add(write(pair, project(pair, netty + dependencies(both.toString()))));
        }
        String boot = imported("org.springframework.boot", "spring-boot-dependencies", oldest("spring-boot"));
        String lettuce = dependency(GROUP, "reactive-lock-lettuce", version);
        names.add(write("boot", project("boot", boot + dependencies(lettuce))));
        StringBuilder modules = new StringBuilder();
        names.forEach(name -> modules.append("<module>").append(name).append("</module>"));
        Files.writeString(
                directory.resolve("pom.xml"),
                project("all", "<packaging>pom</packaging><modules>" + modules + "</modules>"));
        run(maven);
    }

    static Stream<String> modules() {
        return Stream.of(
                        "core",
                        "quorum",
                        "testkit",
                        "redis",
                        "lettuce",
                        "vertx",
                        "etcd",
                        "zookeeper",
                        "consul",
                        "r2dbc",
                        "kotlin",
                        "blocking",
                        "adapters",
                        "micrometer",
                        "spring-boot-starter")
                .map(name -> "reactive-lock-" + name);
    }

    /** Of modules whose drivers stand on Netty, and ask for different lines of it. */
    static Stream<String> pairs() {
        List<String> stores = List.of("lettuce", "vertx", "etcd", "zookeeper", "consul", "r2dbc");
        return stores.stream()
                .flatMap(one -> stores.subList(stores.indexOf(one) + 1, stores.size()).stream()
                        .map(other -> one + "-" + other));
    }

    private static String databases() throws IOException {
        return dependency("org.postgresql", "r2dbc-postgresql", property("r2dbc-postgresql"))
                + dependency("org.mariadb", "r2dbc-mariadb", property("r2dbc-mariadb"))
                + dependency("io.asyncer", "r2dbc-mysql", property("r2dbc-mysql"));
    }

    @ParameterizedTest
    @MethodSource("pairs")
    void twoStoresWithTheBomOfNettyHaveOneNetty(String pair) throws IOException {
        Map<String, String> netty = users(pair);
        netty.keySet().removeIf(name -> !name.startsWith("io.netty:") || name.contains("tcnative"));

        assertThat(netty).containsKey("io.netty:netty-common:jar").values().containsOnly(property("netty"));
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aUserGetsTheVersionsThatWereTested(String module) throws IOException {
        Map<String, String> tested = versions(
                ROOT.resolve(module).resolve("target/tested-dependencies.tgf"),
                "compile",
                "runtime",
                "test",
                "provided");
        Map<String, String> users = users("plain-" + module);

        assertThat(users).isNotEmpty().containsKey("io.projectreactor:reactor-core:jar");
        assertThat(tested).containsAllEntriesOf(users);
    }

    @ParameterizedTest
    @MethodSource("modules")
    void aNeighbourThatAsksForAnOldReactorChangesNothing(String module) throws IOException {
        Map<String, String> alone = users("plain-" + module);
        Map<String, String> beside = users("kotlin-" + module);

        // Its own annotations of Kotlin may be newer.
        alone.keySet().removeIf(name -> name.startsWith("org.jetbrains"));
        assertThat(beside).containsAllEntriesOf(alone);
    }

    @Test
    void theOldestSpringBootGetsTheLineThatIsTestedForIt() throws IOException {
        Map<String, String> users = users("boot");

        for (Map.Entry<String, String> library : OLDEST.entrySet()) {
            assertThat(users).containsEntry(library.getKey(), oldest(library.getValue()));
        }
    }

    /** A version of the oldest line, as the build names it. */
    private static String oldest(String library) throws IOException {
        return property("oldest." + library);
    }

    private static String property(String library) throws IOException {
        Matcher version = Pattern.compile("<" + Pattern.quote(library) + "\\.version>([^<]+)")
                .matcher(Files.readString(ROOT.resolve("pom.xml")));
        assertThat(version.find()).as(library).isTrue();
        return version.group(1);
    }

    private static Map<String, String> users(String project) throws IOException {
        Map<String, String> users = versions(directory.resolve(project).resolve("users.tgf"), "compile", "runtime");
        users.keySet().removeIf(name -> name.startsWith(GROUP + ":"));
        return users;
    }

    /** Of a list of Maven's dependency plugin: each artifact's version. */
    private static Map<String, String> versions(Path list, String... scopes) throws IOException {
        Map<String, String> versions = new TreeMap<>();
        for (String line : Files.readAllLines(list)) {
            Matcher artifact = ARTIFACT.matcher(line);
            if (artifact.lookingAt() && List.of(scopes).contains(artifact.group("scope"))) {
                versions.put(artifact.group("name"), artifact.group("version"));
            }
        }
        return versions;
    }

    private static void run(String maven) throws Exception {
        List<String> command = new ArrayList<>(List.of(maven + "/bin/mvn", "-B", "-q", "-ntp"));
        if (System.getProperty("reactivelock.maven.offline", "").equals("offline=true")) {
            command.add("-o");
        }
        command.add("-Dmaven.repo.local=" + System.getProperty("reactivelock.maven.repository"));
        command.add("org.apache.maven.plugins:maven-dependency-plugin:"
                + System.getProperty("reactivelock.maven.dependency-plugin") + ":tree");
        command.addAll(List.of("-DoutputType=tgf", "-DoutputFile=users.tgf"));
        Process process = new ProcessBuilder(command)
                .directory(directory.toFile())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
    }

    private static String write(String name, String pom) throws IOException {
        Files.createDirectory(directory.resolve(name));
        Files.writeString(directory.resolve(name).resolve("pom.xml"), pom);
        return name;
    }

    private static String project(String name, String body) {
        return "<project xmlns=\"http://maven.apache.org/POM/4.0.0\"><modelVersion>4.0.0</modelVersion>"
                + "<groupId>user</groupId><artifactId>" + name + "</artifactId><version>1</version>" + body
                + "</project>";
    }

    private static String imported(String group, String artifact, String version) {
        return "<dependencyManagement><dependencies><dependency><groupId>" + group + "</groupId><artifactId>" + artifact
                + "</artifactId><version>" + version
                + "</version><type>pom</type><scope>import</scope></dependency></dependencies></dependencyManagement>";
    }

    private static String dependencies(String dependencies) {
        return "<dependencies>" + dependencies + "</dependencies>";
    }

    private static String dependency(String group, String artifact, String version) {
        return "<dependency><groupId>" + group + "</groupId><artifactId>" + artifact + "</artifactId><version>"
                + version + "</version></dependency>";
    }
}
