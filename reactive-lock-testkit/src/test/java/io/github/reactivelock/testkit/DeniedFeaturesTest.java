package io.github.reactivelock.testkit;

import static java.util.Map.entry;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** No page says of a feature that it is missing when the code has it: such a page was written before the feature. */
class DeniedFeaturesTest {

    /** The words for a feature, and what has it: the file under src/main, and the method if it is one. */
    private static final Map<String, String> FEATURES = Map.ofEntries(
            entry("annotation|withlock", "reactive-lock-spring-boot-starter/spring/WithLock.java"),
            entry(
                    "(?:spring |boot )*starter",
                    "reactive-lock-spring-boot-starter/spring/boot/ReactiveLockAutoConfiguration.java"),
            entry("read(?:[- ]write| and write)? lock|shared lock", "reactive-lock-core/LockClient.java#shared"),
            entry("semaphore", "reactive-lock-core/LockClient.java#permits"),
            entry("leader (?:election|latch|selector|initiator)", "reactive-lock-core/election/LeaderElection.java"),
            entry("coroutine|kotlin module", "reactive-lock-kotlin/kotlin/CoroutineLockClient.kt"),
            entry("vert\\.x(?: module| client)?", "reactive-lock-vertx/vertx/VertxLockClient.java"),
            entry("command line|cli", "reactive-lock-cli/cli/Main.java"),
            entry("fencing token|fenced lock", "reactive-lock-core/LockHandle.java#fencingToken"),
            entry("(?:fencing )?guards", "reactive-lock-redis/redis/RedisFencingGuard.java"),
            entry("(?:minimum|shortest|min) hold", "reactive-lock-core/LockOptions.java#withMinHold"),
            entry("(?:maximum|longest|max) hold", "reactive-lock-core/LockOptions.java#withMaxHold"),
            entry("lock delay", "reactive-lock-core/LockOptions.java#withLockDelay"),
            entry("lock that stays|retention", "reactive-lock-core/LockOptions.java#withRetention"),
            entry("wait timeout", "reactive-lock-core/LockOptions.java#withWaitTimeout"),
            entry("fair lock|order of arrival", "reactive-lock-core/LockOptions.java#withFairness"),
            entry(
                    "release by force|forced release|force (?:unlock|release)",
                    "reactive-lock-core/LockClient.java#forceRelease"),
            entry("list of (?:the )?(?:held )?locks", "reactive-lock-core/LockClient.java#list"),
            entry("lock event", "reactive-lock-core/LockClient.java#events"),
            entry("multi[- ]?lock|lock of several keys", "reactive-lock-core/LockClient.java#withLockMany"),
            entry("reentrancy", "reactive-lock-core/LockContext.java"),
            entry("store in the process|in-memory store", "reactive-lock-core/memory/InMemoryLockBackend.java"),
            entry("metrics|traces", "reactive-lock-micrometer/micrometer/LockObservations.java"),
            entry("health (?:check|indicator)", "reactive-lock-vertx/vertx/LockHealthCheck.java"),
            entry("(?:actuator|locks) endpoint", "reactive-lock-spring-boot-starter/spring/boot/LocksEndpoint.java"),
            entry("problem detail", "reactive-lock-spring-boot-starter/spring/boot/LockProblems.java"),
            entry("redis cluster", "reactive-lock-lettuce/lettuce/LettuceLockBackend.java#connectCluster"),
            entry("quorum|red ?lock", "reactive-lock-quorum/quorum/QuorumLockBackend.java"),
            entry("etcd", "reactive-lock-etcd/etcd/EtcdLockBackend.java"),
            entry("zookeeper", "reactive-lock-zookeeper/zookeeper/ZooKeeperLockBackend.java"),
            entry("consul", "reactive-lock-consul/consul/ConsulLockBackend.java"),
            entry("sql|r2dbc|postgresql|mariadb|mysql", "reactive-lock-r2dbc/r2dbc/R2dbcLockBackend.java"),
            entry("row lock", "reactive-lock-r2dbc/r2dbc/RowLocks.java"),
            entry("advisory lock", "reactive-lock-r2dbc/r2dbc/AdvisoryLocks.java"),
            entry(
                    "java\\.util\\.concurrent\\.locks\\.lock|module for code that blocks",
                    "reactive-lock-blocking/blocking/BlockingLockClient.java#asLock"),
            entry(
                    "(?:adapter|provider) for shedlock",
                    "reactive-lock-adapters/shedlock/ReactiveLockProvider.java#lock"),
            entry("test kit|contract for stores", "reactive-lock-testkit/testkit/LockBackendContract.java"));

    /** Said of one store, one module or one case, and true. */
    private static final Set<String> TRUE = Set.of(
            "docs/with-lock.md: no semaphore", // the default
            "docs/metrics.md: no traces",
            "docs/metrics.md: no metrics",
            "docs/stores/your-own.md: no minimum hold",
            "docs/stores/your-own.md: no lock delay",
            "docs/stores/redis-lettuce.md: no lock that stays", // over sharded channels
            "docs/stores/redis-lettuce.md: nor through vert.x",
            "docs/design/consul.md: no transaction of consul");

    private static final String NAMED = "(?:" + String.join("|", FEATURES.keySet()) + ")s?\\b";

    private static final Pattern DENIAL = Pattern.compile(
            "\\b(?:no|nor|neither|lacks?|without an?|not (?:have|support|offer|know)|(?:not yet|missing|planned|to come):)"
                    + " (?:[\\w-]+ ){0,2}?" + NAMED + "|\\b" + NAMED + ":? (?:is |are )?"
                    + "(?:not yet|not supported|not available|not offered|missing|unsupported|planned|to come)\\b");

    /** In a table with a column about us, what that cell begins with. */
    private static final Pattern DENYING_CELL = Pattern.compile("(?:–|-|no\\b|none\\b|not yet|missing|planned).*");

    private static final Pattern ABOUT = Pattern.compile(".*\\b" + NAMED + ".*");
    private static final Pattern ONLY = Pattern.compile("(?:an? )?" + NAMED);
    private static final Pattern FENCED = Pattern.compile("^```.*?^```", Pattern.MULTILINE | Pattern.DOTALL);
    private static final Pattern HISTORY = Pattern.compile("CHANGELOG\\.md|defects/README\\.md");

    @Test
    void theCodeHasEveryFeatureOfTheTable() {
        assertThat(FEATURES.values()).allSatisfy(place -> {
            String[] fileAndMethod = place.split("#", 2);
            String source = Files.readString(source(fileAndMethod[0]));
            assertThat(source).containsPattern(fileAndMethod.length == 1 ? "(?s)." : "\\b" + fileAndMethod[1] + "\\(");
        });
    }

    @Test
    void noPageSaysThatWhatTheCodeHasIsMissing() throws IOException {
        Set<String> denials = new LinkedHashSet<>();
        for (Path page : GuaranteesDocumentTest.pages()) {
            String name = GuaranteesDocumentTest.ROOT.relativize(page).toString();
            if (!HISTORY.matcher(name).matches()) {
                denied(Files.readString(page)).forEach(said -> denials.add(name + ": " + said));
            }
        }

        assertThat(denials).containsExactlyInAnyOrderElementsOf(TRUE);
    }

    @Test
    void aDenialIsSeenInWordsInATableAndAmongWhatOthersHave() {
        assertThat(denied("There are no read locks or semaphores.")).containsExactly("no read locks");
        assertThat(denied("It has no reactive\n[leader election](election.md) yet."))
                .hasSize(1);
        assertThat(denied("Not yet: `Consul`, etcd.")).containsExactly("not yet: consul");
        assertThat(denied("Metrics are planned.")).containsExactly("metrics are planned");
        assertThat(denied("| Curator | here |\n|---|---|\n| a semaphore | – |\n"))
                .containsExactly("a semaphore | –");
        assertThat(denied("| theirs | here |\n|---|---|\n| `getReadWriteLock(\"k\")` | not yet |\n"))
                .hasSize(1);
        assertThat(denied("| Curator | here |\n|---|---|\n| a semaphore | `permits`, not in a quorum |\n"))
                .isEmpty();
        assertThat(denied("## What they have and this has not\n\n| | x |\n|---|---|\n| semaphores | yes |\n"))
                .containsExactly("semaphores, which this has not");
        assertThat(denied("No page. Semaphores have permits.\n\n```\nno semaphores\n```\n"))
                .isEmpty();
    }

    private static List<String> denied(String page) {
        List<String> denials = new ArrayList<>();
        String plain = FENCED.matcher(page)
                .replaceAll("")
                .replaceAll("\\[([^\\]\\n]*)\\]\\([^)]*\\)", "$1")
                .replaceAll("[`*@]", "");
        String words = plain.replace("\n\n", " . ").replaceAll("\\s+", " ").toLowerCase(Locale.ROOT);
        DENIAL.matcher(words).results().forEach(said -> denials.add(said.group()));
        denials.addAll(deniedInTables(plain));
        return denials;
    }

    /** Rows of a table with a column about us whose cell there begins with a denial; and what only others have. */
    private static List<String> deniedInTables(String plain) {
        List<String> denials = new ArrayList<>();
        boolean onlyOthers = false;
        int ours = -1;
        for (String line : plain.lines().toList()) {
            List<String> cells = List.of(line.split(" *\\| *"));
            if (line.startsWith("#")) {
                onlyOthers = line.contains("this has not");
            } else if (!line.startsWith("|")) {
                ours = -1;
            } else if (cells.contains("here") || cells.contains("WithLock")) {
                ours = Math.max(cells.indexOf("here"), cells.indexOf("WithLock"));
            } else if (ours > 1
                    && ours < cells.size()
                    && DENYING_CELL.matcher(cells.get(ours)).matches()
                    && ABOUT.matcher(inWords(cells.get(1))).matches()) {
                denials.add(cells.get(1) + " | " + cells.get(ours));
            } else if (onlyOthers
                    && cells.size() > 1
                    && ONLY.matcher(inWords(cells.get(1))).matches()) {
                denials.add(cells.get(1) + ", which this has not");
            }
        }
        return denials;
    }

    /** Another library's method is two words: {@code getSemaphore}. */
    private static String inWords(String cell) {
        return cell.replaceAll("(?<=[a-z0-9])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
    }

    private static Path source(String place) {
        int slash = place.indexOf('/');
        String language = place.endsWith(".kt") ? "kotlin" : "java";
        return GuaranteesDocumentTest.ROOT.resolve(place.substring(0, slash) + "/src/main/" + language
                + "/io/github/reactivelock/" + place.substring(slash + 1));
    }
}
