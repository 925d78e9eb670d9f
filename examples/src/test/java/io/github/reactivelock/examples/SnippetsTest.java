package io.github.reactivelock.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.testservers.RedisServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Every Java snippet of README and docs compiles. One with a {@code main} runs too, on a real Redis where it names one,
 * and prints what the {@code text} block behind it shows. The first of a page compiles with the imports that it shows,
 * so that a reader need not look for them. The one exception is code of other libraries, tagged
 * {@code java theirs}, in the pages on migrating.
 */
class SnippetsTest {

    private static final Path ROOT = Path.of("").toAbsolutePath().getParent();
    private static final Path MIGRATING = ROOT.resolve("docs/migrating");
    private static final Pattern BLOCK =
            Pattern.compile("^```java(.*)\\n((?:.*\\n)*?)```\\n(?:\\n```text\\n((?:.*\\n)*?)```)?", Pattern.MULTILINE);
    private static final Pattern TYPE =
            Pattern.compile("^(?:public )?(?:final )?(?:class|interface|record|enum) (\\w+)", Pattern.MULTILINE);
    private static final Pattern OWN_IMPORTS = Pattern.compile("(?:import .*\\n|\\n(?=import ))*");
    private static final String REDIS = "redis://localhost:6379";
    private static final String THEIRS = " theirs";

    private static final String IMPORTS = """
            import static java.nio.charset.StandardCharsets.UTF_8;
            import static org.assertj.core.api.Assertions.assertThat;
            import io.etcd.jetcd.*;
            import io.etcd.jetcd.kv.TxnResponse;
            import io.etcd.jetcd.op.Op;
            import io.etcd.jetcd.options.PutOption;
            import io.github.reactivelock.*;
            import io.github.reactivelock.blocking.*;
            import io.github.reactivelock.election.*;
            import io.github.reactivelock.etcd.*;
            import io.github.reactivelock.lettuce.*;
            import io.github.reactivelock.memory.*;
            import io.github.reactivelock.micrometer.*;
            import io.github.reactivelock.quorum.*;
            import io.github.reactivelock.r2dbc.*;
            import io.github.reactivelock.redis.*;
            import io.github.reactivelock.shedlock.*;
            import io.github.reactivelock.spi.*;
            import io.github.reactivelock.spring.*;
            import io.github.reactivelock.spring.boot.*;
            import io.github.reactivelock.state.*;
            import io.github.reactivelock.testkit.FaultyBackend;
            import io.github.reactivelock.testkit.LockBackendContract;
            import io.github.reactivelock.vertx.*;
            import io.github.reactivelock.zookeeper.*;
            import io.github.reactivelock.consul.*;
            import io.lettuce.core.RedisClient;
            import io.lettuce.core.RedisURI;
            import io.lettuce.core.SslOptions;
            import io.lettuce.core.resource.ClientResources;
            import io.micrometer.core.instrument.MeterRegistry;
            import io.vertx.core.Future;
            import io.vertx.core.Promise;
            import io.vertx.ext.healthchecks.HealthChecks;
            import io.vertx.micrometer.backends.BackendRegistries;
            import io.vertx.redis.client.RedisOptions;
            import java.time.*;
            import java.util.List;
            import java.util.concurrent.ThreadLocalRandom;
            import java.util.concurrent.TimeUnit;
            import java.util.concurrent.atomic.AtomicLong;
            import java.util.concurrent.locks.Lock;
            import java.util.function.LongSupplier;
            import net.javacrumbs.shedlock.core.*;
            import org.apache.curator.framework.api.transaction.*;
            import org.apache.curator.framework.recipes.locks.InterProcessMutex;
            import org.junit.jupiter.api.Test;
            import org.redisson.api.RLockReactive;
            import org.springframework.beans.factory.annotation.Autowired;
            import org.springframework.beans.factory.annotation.Qualifier;
            import org.springframework.beans.factory.annotation.Value;
            import org.springframework.boot.test.context.SpringBootTest;
            import org.springframework.boot.webflux.test.autoconfigure.WebFluxTest;
            import org.springframework.context.annotation.Bean;
            import org.springframework.context.annotation.Configuration;
            import org.springframework.scheduling.annotation.Scheduled;
            import org.springframework.stereotype.Service;
            import org.springframework.test.web.reactive.server.WebTestClient;
            import org.springframework.web.bind.annotation.PathVariable;
            import org.springframework.web.bind.annotation.PostMapping;
            import org.springframework.web.bind.annotation.RestController;
            import reactor.core.Disposable;
            import reactor.core.publisher.Flux;
            import reactor.core.publisher.Mono;
            import reactor.core.scheduler.Schedulers;
            import reactor.netty.http.client.HttpClient;
            import reactor.test.StepVerifier;
            import reactor.test.scheduler.VirtualTimeScheduler;
            import reactor.util.retry.Retry;
            """;

    /** A block of a page; {@code number} is that of its line. */
    private record Snippet(Path page, int number, String tag, String code, String output) {

        String name() {
            String plain = ROOT.relativize(page).toString().toLowerCase(Locale.ROOT);
            return plain.replaceAll("[^a-z0-9]", "_") + "_" + number;
        }

        String where() {
            return ROOT.relativize(page) + ":" + number;
        }

        boolean isProgram() {
            return code.contains("static void main(");
        }

        boolean hasImports() {
            return code.startsWith("import ");
        }

        /** Lines keep their numbers, so that what the compiler says names the line of the page. */
        String source() {
            String head = "package snippet." + name() + "; " + (hasImports() ? "" : IMPORTS.replace("\n", " "));
            Matcher imports = OWN_IMPORTS.matcher(code);
            int body = imports.lookingAt() ? imports.end() : 0;
            return TYPE.matcher(code).find()
                    ? head + code
                    : head + code.substring(0, body)
                            + "abstract class Snippet extends io.github.reactivelock.examples.SnippetNames {"
                            + " void run() throws Exception { " + code.substring(body) + "}}";
        }
    }

    @TempDir
    private Path directory;

    @Test
    void everyOneCompiles() throws IOException {
        List<Snippet> ours =
                snippets().stream().filter(snippet -> snippet.tag().isEmpty()).toList();

        assertThat(compiled(ours, REDIS)).isEmpty();
        assertThat(ours).hasSizeGreaterThan(30);
    }

    @Test
    void theFirstBlockOfEveryPageShowsItsImports() throws IOException {
        Map<Path, Snippet> first = new TreeMap<>();
        snippets().stream()
                .filter(snippet -> snippet.tag().isEmpty())
                .forEach(one -> first.putIfAbsent(one.page(), one));

        assertThat(first).hasSizeGreaterThan(20);
        assertThat(first.values())
                .filteredOn(one -> !one.hasImports())
                .extracting(Snippet::where)
                .isEmpty();
    }

    @Test
    void everyProgramPrintsWhatThePageShows() throws Exception {
        List<Snippet> programs = snippets().stream().filter(Snippet::isProgram).toList();

        assertThat(programs).hasSizeGreaterThanOrEqualTo(2);
        try (RedisServer server = RedisServer.start()) {
            assertThat(compiled(programs, server.uri())).isEmpty();
            for (Snippet program : programs) {
                assertThat(run(program)).as(program.where()).isEqualTo(program.output());
            }
        }
    }

    @Test
    void everyMigrationTakesTheOldLockOutsideAndOursInside() throws IOException {
        Pattern both = Pattern.compile("\\btheirs\\b[\\s\\S]*\\b(?:with|tryWith)Lock\\(");
        List<Path> shown = snippets().stream()
                .filter(snippet -> snippet.tag().isEmpty() && isOnMigrating(snippet))
                .filter(snippet -> both.matcher(snippet.code()).find())
                .map(Snippet::page)
                .distinct()
                .toList();

        try (Stream<Path> pages = Files.list(MIGRATING)) {
            assertThat(shown).containsExactlyInAnyOrderElementsOf(pages.toList());
        }
    }

    @Test
    void onlyCodeOfOtherLibrariesIsLeftOut() throws IOException {
        List<String> strange = snippets().stream()
                .filter(snippet -> !snippet.tag().isEmpty())
                .filter(snippet -> !snippet.tag().equals(THEIRS)
                        || !isOnMigrating(snippet)
                        || snippet.code().contains("LockClient"))
                .map(Snippet::where)
                .toList();

        assertThat(strange).isEmpty();
    }

    private static boolean isOnMigrating(Snippet snippet) {
        return MIGRATING.equals(snippet.page().getParent());
    }

    private static List<Snippet> snippets() throws IOException {
        List<Path> pages = new ArrayList<>(List.of(ROOT.resolve("README.md"), ROOT.resolve("CONTRIBUTING.md")));
        try (Stream<Path> docs = Files.walk(ROOT.resolve("docs"))) {
            docs.filter(page -> page.toString().endsWith(".md") && !page.startsWith(ROOT.resolve("docs/site")))
                    .sorted()
                    .forEach(pages::add);
        }
        List<Snippet> snippets = new ArrayList<>();
        for (Path page : pages) {
            String text = Files.readString(page);
            Matcher block = BLOCK.matcher(text);
            while (block.find()) {
                int line = (int) text.substring(0, block.start(2)).lines().count() + 1;
                String output = block.group(3) == null ? "" : block.group(3);
                snippets.add(new Snippet(page, line, block.group(1), block.group(2), output));
            }
        }
        return snippets;
    }

    /** What the compiler has to say, each with page and line. */
    private List<String> compiled(List<Snippet> snippets, String redis) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        DiagnosticCollector<JavaFileObject> told = new DiagnosticCollector<>();
        Map<String, Snippet> byFile = new TreeMap<>();
        for (Snippet snippet : snippets) {
            Path file = Files.createDirectories(directory.resolve("src/" + snippet.name()))
                    .resolve("Snippet.java");
            Files.writeString(file, snippet.source().replace(REDIS, redis));
            byFile.put(file.toUri().toString(), snippet);
        }
        List<String> options = List.of(
                "-proc:none",
                "-Xlint:deprecation,removal,unchecked,rawtypes",
                "-cp",
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                "-d",
                Files.createDirectories(directory.resolve("classes")).toString());
        try (StandardJavaFileManager files = compiler.getStandardFileManager(told, null, StandardCharsets.UTF_8)) {
            var sources = files.getJavaFileObjectsFromPaths(byFile.keySet().stream()
                    .map(uri -> Path.of(java.net.URI.create(uri)))
                    .toList());
            boolean unused =
                    compiler.getTask(null, files, told, options, null, sources).call();
        }
        return told.getDiagnostics().stream().map(one -> said(one, byFile)).toList();
    }

    private static String said(Diagnostic<? extends JavaFileObject> told, Map<String, Snippet> byFile) {
        Snippet snippet = told.getSource() == null
                ? null
                : byFile.get(told.getSource().toUri().toString());
        String where = snippet == null
                ? ""
                : ROOT.relativize(snippet.page()) + ":" + (snippet.number() + told.getLineNumber() - 1) + ": ";
        return where + told.getMessage(Locale.ROOT);
    }

    private String run(Snippet program) throws IOException, InterruptedException {
        Matcher type = TYPE.matcher(program.code());
        assertThat(type.find()).as(program.where()).isTrue();
        Path quiet = Files.writeString(
                directory.resolve("quiet.xml"), "<configuration><root level=\"off\"/></configuration>");
        Process process = new ProcessBuilder(
                        System.getProperty("java.home") + "/bin/java",
                        "-cp",
                        directory.resolve("classes")
                                + System.getProperty("path.separator")
                                + System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                        "-Dlogback.configurationFile=" + quiet.toUri(),
                        "snippet." + program.name() + "." + type.group(1))
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }
}
