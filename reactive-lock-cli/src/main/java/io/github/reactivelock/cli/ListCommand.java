package io.github.reactivelock.cli;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.state.LockInfo;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import reactor.core.publisher.Mono;

/** Lists the locks that are held. */
@Command(name = "ls", header = "Lists the locks that are held.")
final class ListCommand extends StoreCommand {

    /** In which order. */
    enum Order {
        /** By key. */
        KEY,
        /** The one that is held for the longest time first. */
        HELD,
        /** The one that most wait for first. */
        WAITERS
    }

    @Parameters(paramLabel = "PREFIX", arity = "0..1", description = "what the keys begin with; all if not given")
    private String prefix = "";

    @Option(
            names = "--sort",
            paramLabel = "ORDER",
            description = "by key, by held (longest first) or by waiters (most first); by key if not given")
    private Order order = Order.KEY;

    @Option(
            names = "--limit",
            paramLabel = "NUMBER",
            description = "how many are listed at most, 10000 if not given; those that the store tells first")
    private int limit = 10_000;

    /** For picocli, which fills it in. */
    ListCommand() {}

    @Override
    Mono<ExitCode> question(LockClient client) {
        if (limit < 1) {
            throw new IllegalArgumentException("--limit must be at least 1 but is " + limit);
        }
        return client.list(prefix)
                .distinct(LockInfo.Held::key) // a list may have one twice
                .take(limit + 1L)
                .collectList()
                .map(this::show);
    }

    private ExitCode show(List<LockInfo.Held> found) {
        boolean isComplete = found.size() <= limit;
        List<LockInfo.Held> shown =
                found.stream().limit(limit).sorted(inOrder()).toList();
        List<Json> locks = shown.stream().map(Locks::json).toList();
        if (shown.isEmpty() && !isJson()) {
            note("no lock is held" + (prefix.isEmpty() ? "" : " whose key begins with " + Table.visible(prefix)));
        } else {
            print(Locks.lines(shown), new Json().with("locks", locks).with("complete", isComplete));
        }
        if (!isComplete) {
            note("there are more than these " + limit + "; --limit shows more, and PREFIX fewer");
        }
        return ExitCode.DONE;
    }

    private Comparator<LockInfo.Held> inOrder() {
        Comparator<LockInfo.Held> byKey = Comparator.comparing(LockInfo.Held::key);
        return switch (order) {
            case KEY -> byKey;
            case HELD -> Comparator.comparing(ListCommand::age).reversed().thenComparing(byKey);
            case WAITERS ->
                Comparator.comparing(LockInfo.Held::waiters).reversed().thenComparing(byKey);
        };
    }

    /** What the store does not know comes last. */
    private static Duration age(LockInfo.Held held) {
        @Nullable Duration age = held.age();
        return age == null ? Duration.ZERO : age;
    }
}
