package io.github.reactivelock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockHandle;
import io.github.reactivelock.cli.Program.Ended;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.state.LockInfo;
import io.github.reactivelock.testservers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;

/**
 * What docs/operations.md and docs/cli.md show of the program is what it prints, in the order of the page, on a Redis
 * with the locks that the pages speak of. Times, tokens and the server's address are not compared.
 */
class OperationsPageTest {

    private static final Path DOCS = Path.of("..", "docs");
    private static final Pattern PART = Pattern.compile("^(#+ .*)|^```console\\n((?:.*\\n)*?)```", Pattern.MULTILINE);
    private static final Pattern PROMPT = Pattern.compile("^\\$ ", Pattern.MULTILINE);
    private static final Pattern TOKEN = Pattern.compile("[0-9]{15,}");
    private static final Pattern TIME = Pattern.compile("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+(Z|[+-][0-9:]+)");
    private static final Pattern AGE = Pattern.compile("\\b[0-9]+(ms|s|m[0-9]{2}s|h[0-9]{2}m|d[0-9]{2}h)\\b");
    private static final Pattern MILLIS = Pattern.compile("Millis\":[0-9]+");

    private final List<LockClient> clients = new ArrayList<>();
    private final List<Disposable> waiting = new ArrayList<>();
    private RedisServer server;

    /** order:42 is held by shop-3, and shop-5 and shop-7 wait; order:57 is held by shop-5. */
    @BeforeEach
    void start() throws InterruptedException {
        server = RedisServer.start();
        LockClient shop3 = shop("shop-3/pid-4711/x8Kq2LmT");
        LockClient shop5 = shop("shop-5/pid-3102/Qm7ZtY0a");
        LockClient shop7 = shop("shop-7/pid-2950/b4JdLw9e");
        LockHandle unused = shop3.acquire("order:42").block(StoreCases.LIMIT);
        unused = shop5.acquire("order:57").block(StoreCases.LIMIT);
        wait(shop5, 1);
        wait(shop7, 2);
    }

    private LockClient shop(String name) {
        LockClient shop = LockClient.builder(LettuceLockBackend.connect(server.uri()))
                .name(name)
                .commandTimeout(StoreCases.LIMIT)
                .build();
        clients.add(shop);
        return shop;
    }

    private void wait(LockClient shop, int place) throws InterruptedException {
        waiting.add(shop.acquire("order:42").subscribe());
        long deadline = System.nanoTime() + StoreCases.LIMIT.toNanos();
        while (!(shop.inspect("order:42").block(StoreCases.LIMIT) instanceof LockInfo.Held held
                && held.waiters() == place)) {
            assertThat(System.nanoTime() - deadline).as("in the queue").isNegative();
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }

    @AfterEach
    void stop() {
        Object unused = server.command("CONFIG", "SET", "maxmemory", "0");
        waiting.forEach(Disposable::dispose);
        clients.forEach(client -> client.close().block(StoreCases.LIMIT));
        server.close();
    }

    @Test
    void theOperationsPageShowsWhatIsPrinted() throws Exception {
        assertShowsWhatIsPrinted("operations.md", 7);
    }

    @Test
    void thePageOfTheProgramShowsWhatIsPrinted() throws Exception {
        assertShowsWhatIsPrinted("cli.md", 5);
    }

    private void assertShowsWhatIsPrinted(String page, int atLeast) throws Exception {
        Matcher part = PART.matcher(Files.readString(DOCS.resolve(page)));
        int commands = 0;
        while (part.find()) {
            if (part.group(1) != null) {
                if (part.group(1).contains("is full")) {
                    Object unused = server.command("CONFIG", "SET", "maxmemory", "1");
                }
                continue;
            }
            for (String shown : PROMPT.splitAsStream(part.group(2)).toList()) {
                if (shown.startsWith("reactive-lock ")) {
                    commands++;
                    int end = shown.indexOf('\n');
                    String command = shown.substring(0, end);
                    assertThat(masked(printed(command)))
                            .as("%s of %s", command, page)
                            .isEqualTo(masked(shown.substring(end + 1)));
                }
            }
        }
        assertThat(commands).isGreaterThanOrEqualTo(atLeast);
    }

    private String printed(String command) throws Exception {
        List<String> arguments = new ArrayList<>(
                List.of(command.replace("locks.example.com", "127.0.0.1").split(" ")));
        arguments.remove(0);
        int token = arguments.indexOf("--token") + 1;
        if (token > 0) {
            arguments.set(token, tokenNow(arguments.get(token + 1)));
        }
        Map<String, String> environment = Map.of(Environment.STORE, server.uri());
        Ended ended;
        if (arguments.get(0).equals("watch")) {
            arguments.addAll(List.of("-s", server.uri()));
            Program watch = Program.start(arguments.toArray(String[]::new));
            watch.awaitLineOrEnd(line -> true);
            ended = watch.interrupt();
        } else {
            ended = Program.run(environment, "", arguments.toArray(String[]::new));
        }
        return ended.out() + ended.err();
    }

    private String tokenNow(String key) {
        return clients.get(0).inspect(key).block(StoreCases.LIMIT) instanceof LockInfo.Held held
                ? Long.toString(held.fencingToken())
                : "none";
    }

    private String masked(String text) {
        String masked = text.replace("127.0.0.1:" + server.port(), "locks.example.com:6379")
                .replace("127.0.0.1", "locks.example.com");
        masked = TIME.matcher(masked).replaceAll("TIME");
        masked = TOKEN.matcher(masked).replaceAll("TOKEN");
        masked = MILLIS.matcher(masked).replaceAll("Millis\":N");
        masked = AGE.matcher(masked).replaceAll("AGE");
        return masked.replaceAll(" +", " ").strip();
    }

    @Test
    void thePageOfTheProgramHasEveryExitCodeStoreCommandAndOption() throws IOException {
        String page = Files.readString(DOCS.resolve("cli.md"));

        for (ExitCode code : ExitCode.values()) {
            assertThat(page).contains("| " + code.code + " | " + code.meaning + " |");
        }
        for (Scheme scheme : Scheme.values()) {
            assertThat(page).contains("| `" + scheme.example + "` | " + scheme.store);
        }
        ReactiveLock.in(Environment.real()).getSubcommands().forEach((name, command) -> {
            assertThat(page).contains("`" + name);
            command.getCommandSpec().options().stream()
                    .flatMap(option -> List.of(option.names()).stream())
                    .forEach(option -> assertThat(page).contains("`" + option));
        });
    }
}
