package io.github.reactivelock.examples.flashsale;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * The figures of all rounds, and whether the lock did what it promises.
 *
 * @param results in the order of the rounds
 * @param buyers in each round
 * @param stock in each round
 */
record Report(List<Result> results, int buyers, int stock) {

    /** The number of tickets that a locked round must sell, neither more nor less. */
    private int expected() {
        return Math.min(buyers, stock);
    }

    String table() {
        StringBuilder table = new StringBuilder(format(
                "%-37s %8s %8s %9s %8s %13s %9s %9s %9s",
                "round", "served", "sold", "oversold", "lost", "acquisitions", "per s", "p50 ms", "p99 ms"));
        for (Result result : results) {
            Ledger ledger = result.ledger();
            String name = result.round().title();
            table.append(format(
                    "%n%-37s %,8d %,8d %,9d %,8d ",
                    name, result.served(), ledger.sold(), ledger.oversold(), ledger.lost()));
            Waits waits = Waits.of(result.waits().stream());
            table.append(
                    result.round().isLocked()
                            ? format(
                                    "%,13d %,9.0f %,9.1f %,9.1f",
                                    result.acquisitions(),
                                    result.acquisitionsPerSecond(),
                                    waits.millis(50),
                                    waits.millis(99))
                            : format("%13s %9s %9s %9s", "-", "-", "-", "-"));
        }
        return table.toString();
    }

    /** The rounds with the lock in one line, for programs to read; shows a round that sold wrongly, if there is one. */
    String summary() {
        int sold = locked().map(result -> result.ledger().sold())
                .filter(count -> count != expected())
                .findFirst()
                .orElse(expected());
        Waits waits = Waits.of(locked().flatMap(result -> result.waits().stream()));
        return format(
                "sold=%d oversold=%d lost=%d acquisitions=%d p50_ms=%.1f p99_ms=%.1f",
                sold,
                locked().mapToInt(result -> result.ledger().oversold()).sum(),
                locked().mapToInt(result -> result.ledger().lost()).sum(),
                locked().mapToInt(Result::acquisitions).sum(),
                waits.millis(50),
                waits.millis(99));
    }

    /** The errors of rounds with the lock; empty if there are none. */
    List<String> faults() {
        List<String> faults = new ArrayList<>();
        locked().forEach(result -> {
            Ledger ledger = result.ledger();
            if (ledger.sold() != expected() || ledger.lost() != 0 || result.served() != buyers) {
                faults.add(format(
                        "round %s: sold %d instead of %d tickets, lost %d updates and served %d of %d buyers",
                        result.round().title(), ledger.sold(), expected(), ledger.lost(), result.served(), buyers));
            }
        });
        return faults;
    }

    private Stream<Result> locked() {
        return results.stream().filter(result -> result.round().isLocked());
    }

    private static String format(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
