package io.github.reactivelock.cli;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.support.StoreUrl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.ScopeType;

/** Which store is asked, and how. */
final class StoreOptions {

    private static final Duration SHORTEST = Duration.ofMillis(100);

    @Option(
            names = {"-s", "--store"},
            paramLabel = "URL",
            scope = ScopeType.INHERIT,
            description = "the store; " + Environment.STORE + " if not given, where several have spaces between them")
    private List<String> given = new ArrayList<>();

    @Option(
            names = "--user",
            paramLabel = "NAME",
            scope = ScopeType.INHERIT,
            description = "the user at the store, unless the URL names one")
    private @Nullable String user;

    @Option(
            names = "--ask-password",
            scope = ScopeType.INHERIT,
            description = "asks for the password, or takes the first line of what is piped in; " + Environment.PASSWORD
                    + " has it if not given")
    private boolean asks;

    @Option(
            names = "--key-prefix",
            paramLabel = "PREFIX",
            scope = ScopeType.INHERIT,
            description =
                    "what names at the store begin with, as withPrefix of its options says; reactivelock if not given")
    private @Nullable String keyPrefix;

    @Option(
            names = "--table-prefix",
            paramLabel = "PREFIX",
            scope = ScopeType.INHERIT,
            description = "what names of SQL tables begin with; reactive_lock if not given")
    private @Nullable String tablePrefix;

    @Option(
            names = "--timeout",
            paramLabel = "TIME",
            defaultValue = "10s",
            converter = Durations.class,
            scope = ScopeType.INHERIT,
            description = "how long the store may take to connect, and to answer: as 500ms; 10s if not given")
    Duration timeout = Duration.ofSeconds(10);

    /** For picocli, which fills it in. */
    StoreOptions() {}

    /** Whether others on the machine can read a password in the list of processes. */
    boolean showsPassword() {
        return given.stream().anyMatch(url -> hasPassword(StoreUrl.parse(url)));
    }

    private static boolean hasPassword(StoreUrl url) {
        return url.password() != null || url.query().matches("(?i)(.*&)?password=.*");
    }

    /** The stores that are asked, without passwords. */
    String names(Environment environment) {
        return urls(environment).stream().map(StoreUrl::toString).collect(Collectors.joining(" "));
    }

    LockBackend backend(Environment environment) {
        if (timeout.compareTo(SHORTEST) < 0) {
            throw new IllegalArgumentException("--timeout must be at least 100ms");
        }
        List<StoreUrl> urls = urls(environment);
        String password = asks ? environment.prompt().get() : environment.variable(Environment.PASSWORD);
        // A backend that gives up before the client does says more about why.
        return new Stores(keyPrefix, tablePrefix, timeout.dividedBy(2))
                .backend(urls.stream().map(url -> withLogin(url, password)).toList());
    }

    /** With a user and a password for those that it has none of. */
    private StoreUrl withLogin(StoreUrl url, @Nullable String password) {
        return new StoreUrl(
                url.name(),
                url.user() == null || url.user().isEmpty() ? user : url.user(),
                url.password() == null ? password : url.password(),
                url.hosts(),
                url.path(),
                url.query(),
                url.fragment());
    }

    private List<StoreUrl> urls(Environment environment) {
        String variable = environment.variable(Environment.STORE);
        List<String> texts =
                given.isEmpty() && variable != null ? List.of(variable.strip().split("\\s+")) : given;
        if (texts.isEmpty()) {
            throw new IllegalArgumentException("which store? Name it with --store URL or in " + Environment.STORE
                    + ", as in --store redis://localhost:6379");
        }
        return texts.stream().map(StoreUrl::parse).toList();
    }
}
