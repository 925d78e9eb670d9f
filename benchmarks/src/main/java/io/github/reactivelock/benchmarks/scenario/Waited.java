package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.client.Group;
import io.github.reactivelock.benchmarks.client.Load;
import io.github.reactivelock.benchmarks.client.Outcome;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Round;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.server.Store;
import io.github.reactivelock.benchmarks.side.Sides;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;

/**
 * How soon a waiter in another process has a lock once its holder's work is over, after waits of two lengths. Two
 * processes with one flow each hold it in turn. The time counts from when the work was to be over, so how late the
 * holder's timer is, its hop and its release are in it.
 *
 * @param product the database, for people
 * @param store the database
 */
public record Waited(String product, Store store) implements Scenario {

    private static final Map<Duration, String> SIDES = new TreeMap<>(Map.of(
            Duration.ofMillis(200), Sides.BUSY_SQL_200,
            Duration.ofMillis(2_000), Sides.BUSY_SQL_2000));
    /** For how long the lock goes to and fro in a round of the pace. */
    private static final Duration ROUND = Duration.ofSeconds(6);

    @Override
    public String name() {
        return "sql-waited-" + store.name().toLowerCase(Locale.ROOT);
    }

    @Override
    public void run(Bench bench, Report report) {
        bench.disband();
        String uri = bench.server(store).uri();
        Table table = new Table(
                product + ": one key, two processes in turn, each holds it for a while",
                List.of(name(), "hand-overs", "median ms", "longest ms"));
        try (Group group = new Group(2)) {
            SIDES.forEach((waited, side) -> {
                report.progress(name() + ": " + side);
                group.open(side, uri);
                Load load = new Load(2, 1, Load.Note.EVENTS);
                Outcome warm = group.run(side, load, ROUND);
                Outcome outcome =
                        group.run(side, load, ROUND.multipliedBy(bench.pace().rounds()));
                long[] times = Round.handOvers(outcome.moments());
                double median = millis(Round.at(times, 0.5), waited);
                double longest = millis((double) times[times.length - 1], waited);
                table.add(List.of(
                        "waited " + waited.toMillis() + " ms",
                        Integer.toString(times.length),
                        String.format(Locale.ROOT, "%.1f", median),
                        String.format(Locale.ROOT, "%.1f", longest)));
                String figure = name() + "-" + waited.toMillis();
                report.add(Figure.of("millis", figure, median));
                report.add(Figure.of("millis", figure + "-longest", longest));
                report.progress(name() + ": " + warm.inTime() + " to warm up");
            });
        }
        report.add(table);
    }

    private static double millis(double nanos, Duration waited) {
        return (nanos - waited.toNanos()) / 1e6;
    }
}
