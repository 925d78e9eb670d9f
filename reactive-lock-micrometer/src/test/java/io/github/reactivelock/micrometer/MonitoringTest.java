package io.github.reactivelock.micrometer;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.memory.InMemoryLockBackend;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The dashboard and the alert rules name nothing that the module does not record, and Prometheus reads them. */
class MonitoringTest {

    private static final Path FOLDER = Path.of("monitoring");
    private static final Pattern SERIES = Pattern.compile("reactive_lock_\\w+");
    private static final Pattern WITH_LABELS = Pattern.compile("(reactive_lock_\\w+)\\{([^}]*)}");
    private static final Pattern LABEL = Pattern.compile("(\\w+)\\s*(?:=~|!~|!=|=)\\s*\"");
    private static final Pattern BY = Pattern.compile("by \\(([^)]*)\\) \\(+(?:\\w+\\()?(reactive_lock_\\w+)");
    private static final Pattern EXPRESSION = Pattern.compile("\"expr\": \"((?:[^\"\\\\]|\\\\.)*)\"");

    /** Each series that is recorded, with its labels. */
    private static final Map<String, Set<String>> RECORDED = new TreeMap<>();

    @TempDir
    private Path directory;

    @BeforeAll
    static void record() {
        PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        try (Locks locks = new Locks(LockObservations.of(registry))) {
            locks.everything("order");
        }
        registry.scrape().lines().filter(line -> !line.startsWith("#")).forEach(line -> {
            int labels = line.indexOf('{');
            assertThat(labels).as(line).isPositive();
            LABEL.matcher(line)
                    .results()
                    .forEach(label -> RECORDED.computeIfAbsent(line.substring(0, labels), made -> new TreeSet<>())
                            .add(label.group(1)));
        });
    }

    @Test
    void everySeriesIsRecorded() throws IOException {
        for (String file : List.of("grafana-dashboard.json", "prometheus-rules.yml", "prometheus-rules-test.yml")) {
            Set<String> named = new TreeSet<>();
            all(SERIES, text(file)).map(MatchResult::group).forEach(named::add);

            assertThat(named).as(file).hasSizeGreaterThan(5);
            assertThat(RECORDED.keySet()).as(file).containsAll(named);
        }
    }

    @Test
    void everyLabelIsOneOfItsSeries() throws IOException {
        for (String file : List.of("grafana-dashboard.json", "prometheus-rules.yml", "prometheus-rules-test.yml")) {
            String text = text(file).replace("\\\"", "\"");
            all(WITH_LABELS, text)
                    .forEach(series -> assertThat(RECORDED.get(series.group(1)))
                            .as("%s: %s", file, series.group())
                            .containsAll(all(LABEL, series.group(2))
                                    .map(label -> label.group(1))
                                    .filter(label -> !label.equals("instance")) // Prometheus says where it read it
                                    .toList()));
            all(BY, text)
                    .forEach(sum -> assertThat(RECORDED.get(sum.group(2)))
                            .as("%s: %s", file, sum.group())
                            .contains(sum.group(1).split(", ")));
        }
        assertThat(all(BY, text("prometheus-rules.yml"))).hasSizeGreaterThan(5);
    }

    @Test
    void everyMeterIsOnTheDashboard() throws IOException {
        String dashboard = text("grafana-dashboard.json");
        for (LockMeter meter : LockMeter.values()) {
            assertThat(dashboard).contains(meter.getName().replace('.', '_'));
        }
    }

    @Test
    void theRulesFireWhenTheyShould() throws Exception {
        assertThat(promtool("test", "rules", FOLDER.resolve("prometheus-rules-test.yml")))
                .contains("SUCCESS")
                .doesNotContain("FAILED");
    }

    /**
     * One leads and one follows, for hours. Beside that, flows of both wait for a lock that neither gets, in one of two
     * names.
     */
    @Test
    void aHealthyElectionRaisesNoAlarmAndOneWithoutALeaderDoes() throws Exception {
        InMemoryLockBackend store = InMemoryLockBackend.create();
        PrometheusMeterRegistry first = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        PrometheusMeterRegistry second = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
        LockClient a = instance(store, first);
        LockClient b = instance(store, second);
        LockClient foreign = LockClient.create(store);
        Disposable.Composite all = Disposables.composite();
        Locks.get(foreign.acquire("stuck:1"));
        Locks.get(foreign.acquire("orphan:1"));
        // A term that is over counts as a long hold, and each flow has been served once before.
        Locks.get(LeaderElection.of(a, "leader:1").leadOnce(term -> Mono.just("done")));
        CountDownLatch leads = new CountDownLatch(1);
        for (LockClient instance : List.of(a, b)) {
            all.add(LeaderElection.of(instance, "leader:1")
                    .lead(term -> instance.withLock("work:1", Mono.never().doOnSubscribe(works -> leads.countDown())))
                    .subscribe());
            assertThat(leads.await(60, TimeUnit.SECONDS)).isTrue();
            all.add(LeaderElection.of(instance, "orphan:1")
                    .lead(term -> Mono.never())
                    .subscribe());
            all.add(instance.withLock("stuck:1", Mono.never()).subscribe());
        }

        String series = scraped("a", first) + scraped("b", second);
        all.dispose();
        Locks.get(Mono.when(a.close(), b.close(), foreign.close()));

        assertThat(series)
                .contains("kind=\"election\",lock=\"leader\",store=\"redis\",instance=\"b\"}'\n        values: '1x60'")
                .contains("reactive_lock_held{kind=\"lock\",lock=\"work\"");
        Files.copy(FOLDER.resolve("prometheus-rules.yml"), directory.resolve("prometheus-rules.yml"));
        Path file = Files.writeString(
                directory.resolve("two-instances.yml"),
                """
                rule_files:
                  - prometheus-rules.yml
                evaluation_interval: 1m
                tests:
                  - interval: 1m
                    input_series:
                """
                        + series
                        + "    alert_rule_test:\n"
                        + firing("ReactiveLockHeldLong")
                        + firing("ReactiveLockNotPassedOn", "stuck")
                        + firing("ReactiveLockNoLeader", "orphan"));

        assertThat(promtool("test", "rules", file)).contains("SUCCESS").doesNotContain("FAILED");
    }

    private static LockClient instance(InMemoryLockBackend store, PrometheusMeterRegistry registry) {
        return LockClient.builder(store)
                .listener(LockObservations.of(registry).withStore("redis"))
                .workScheduler(Schedulers.immediate())
                .build();
    }

    /** As they are now, for an hour; the longest hold as if it had lasted for three hours. */
    private static String scraped(String instance, PrometheusMeterRegistry registry) {
        StringBuilder series = new StringBuilder();
        registry.scrape()
                .lines()
                .filter(line -> line.startsWith("reactive_lock_"))
                .forEach(line -> {
                    int end = line.lastIndexOf(' ');
                    boolean isLongest = line.startsWith("reactive_lock_hold_seconds_max");
                    series.append("      - series: '")
                            .append(line, 0, end - 1)
                            .append(",instance=\"")
                            .append(instance)
                            .append("\"}'\n        values: '")
                            .append(isLongest ? "10800" : Math.round(Double.parseDouble(line.substring(end + 1))))
                            .append("x60'\n");
                });
        return series.toString();
    }

    /** After three quarters of an hour, for these names and no others. */
    private static String firing(String alert, String... locks) throws IOException {
        String rules = text("prometheus-rules.yml");
        String rule = rules.substring(rules.indexOf("alert: " + alert + "\n"));
        StringBuilder expected = new StringBuilder();
        expected.append("      - eval_time: 45m\n        alertname: ")
                .append(alert)
                .append("\n        exp_alerts:");
        for (String lock : locks) {
            expected.append("\n          - exp_labels: {severity: critical, lock: ")
                    .append(lock)
                    .append(", store: redis}\n            exp_annotations:");
            all(Pattern.compile("(summary|description): (\"[^\"]*\")"), rule)
                    .limit(2)
                    .forEach(said -> expected.append("\n              ")
                            .append(said.group().replace("{{ $labels.lock }}", lock)));
        }
        return expected.append(locks.length == 0 ? " []\n" : "\n").toString();
    }

    @Test
    void eachRuleHasATest() throws IOException {
        Pattern alert = Pattern.compile("alert: (\\w+)");
        Pattern expected = Pattern.compile("alertname: (\\w+)\\s+exp_alerts:");

        assertThat(all(expected, text("prometheus-rules-test.yml")).map(found -> found.group(1)))
                .containsAll(all(alert, text("prometheus-rules.yml"))
                        .map(found -> found.group(1))
                        .toList());
    }

    /** Grafana fills in its variables, and Prometheus must be able to read what comes of it. */
    @Test
    void everyQuestionOfTheDashboardIsPromQl() throws Exception {
        List<String> questions = all(EXPRESSION, text("grafana-dashboard.json"))
                .map(found -> found.group(1)
                        .replace("\\\"", "\"")
                        .replace("$__rate_interval", "5m")
                        .replaceAll("\\$(lock|store)", ".*"))
                .toList();
        StringBuilder rules = new StringBuilder("groups:\n  - name: dashboard\n    rules:\n");
        for (int i = 0; i < questions.size(); i++) {
            rules.append("      - record: question")
                    .append(i)
                    .append("\n        expr: '")
                    .append(questions.get(i))
                    .append("'\n");
        }
        Path file = Files.writeString(directory.resolve("rules.yml"), rules);

        assertThat(questions).hasSizeGreaterThan(8).noneMatch(question -> question.contains("$"));
        assertThat(promtool("check", "rules", file)).contains("SUCCESS").contains(questions.size() + " rules found");
    }

    private static String text(String file) throws IOException {
        return Files.readString(FOLDER.resolve(file));
    }

    private static Stream<MatchResult> all(Pattern pattern, String text) {
        return pattern.matcher(text).results();
    }

    private static String promtool(String verb, String what, Path file) throws IOException, InterruptedException {
        assumeTrue(
                Stream.of(System.getenv("PATH").split(File.pathSeparator))
                        .anyMatch(folder -> Files.isExecutable(Path.of(folder, "promtool"))),
                "promtool is not on the PATH (Debian package prometheus)");
        Process process = new ProcessBuilder("promtool", verb, what, file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor()).as(said).isZero();
        return said;
    }
}
