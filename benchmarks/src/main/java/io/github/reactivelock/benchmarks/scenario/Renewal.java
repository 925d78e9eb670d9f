package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.client.Group;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.server.Usage;
import io.github.reactivelock.benchmarks.side.Sides;
import java.util.List;
import java.util.Locale;

/** How many commands keep ten thousand locks alive. Both sides renew when a third of 30 seconds is over. */
public final class Renewal implements Scenario {

    private static final int HOLDS = 10_000;
    private static final double PERIOD_SECONDS = 10;
    private static final List<String> SIDES = List.of(Sides.OURS, Sides.REDISSON_ASYNC);

    @Override
    public String name() {
        return "renewal-10000";
    }

    @Override
    public void run(Bench bench, Report report) {
        Table table = new Table("10,000 locks held and renewed", List.of(name(), "commands a period of 10 s"));
        for (String side : SIDES) {
            report.progress(name() + ": " + side);
            double commands = commandsAPeriod(bench, side);
            table.add(List.of(side, String.format(Locale.ROOT, "%.1f", commands)));
            if (side.equals(Sides.OURS)) {
                report.add(Figure.of("commands", name(), commands));
            }
        }
        report.add(table);
    }

    private static double commandsAPeriod(Bench bench, String side) {
        bench.disband();
        try (Group group = new Group(1)) {
            group.open(side, bench.redis().uri());
            group.ask("hold " + side + " " + HOLDS);
            Usage before = bench.redis().usage(side);
            bench.pace().watchNow();
            Usage usage = bench.redis().usage(side).since(before);
            return usage.sent() * PERIOD_SECONDS / bench.pace().watch().toSeconds();
        } finally {
            bench.redis().flush();
        }
    }
}
