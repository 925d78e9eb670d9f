package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.client.Group;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.server.Usage;
import io.github.reactivelock.benchmarks.side.Sides;
import java.util.List;
import java.util.Locale;

/**
 * A hundred thousand and a million locks held by one process, and a million flows of one that want the same lock: the
 * processors that renewals take, and whether anything is lost.
 */
public final class Scale implements Scenario {

    private static final List<Integer> HOLDS = List.of(100_000, 1_000_000);
    private static final int WAITERS = 1_000_000;
    /** The owner, which goes with its lease, and the counter, which stays for ten minutes. */
    private static final long KEYS_A_HOLD = 2;

    private static final List<String> ROOMY = List.of("-Xmx4g");

    @Override
    public String name() {
        return "scale";
    }

    @Override
    public void run(Bench bench, Report report) {
        bench.disband();
        Table held = new Table(
                "Many locks held by one process, renewed every 10 s",
                List.of(
                        name(),
                        "bytes a hold",
                        "client, % of a processor",
                        "server, % of a processor",
                        "commands a second",
                        "lost"));
        for (int holds : HOLDS) {
            report.progress(name() + ": " + holds + " holds");
            hold(bench, report, held, holds);
        }
        report.add(held);
        report.progress(name() + ": " + WAITERS + " waiters");
        serve(bench, report);
    }

    private void hold(Bench bench, Report report, Table table, int holds) {
        try (Group group = new Group(1, ROOMY)) {
            group.open(Sides.OURS, bench.redis().uri());
            String bytes = group.ask("hold " + Sides.OURS + " " + holds);
            double seconds = bench.pace().watch().toNanos() / 1e9;
            Usage before = bench.redis().usage(Sides.OURS);
            double cpuBefore = cpu(group);
            bench.pace().watchNow();
            double client = 100 * (cpu(group) - cpuBefore) / 1e9 / seconds;
            Usage usage = bench.redis().usage(Sides.OURS).since(before);
            double server = 100 * usage.cpuMicros() / 1e6 / seconds;
            long lost = Math.max(0, KEYS_A_HOLD * holds - bench.redis().keys());
            table.add(List.of(
                    String.format(Locale.ROOT, "%,d holds", holds),
                    bytes,
                    shown(client),
                    shown(server),
                    shown(usage.sent() / seconds),
                    Long.toString(lost)));
            report.add(Figure.of("percent", "renewing-" + holds, client));
            report.add(Figure.of("lost", "renewing-" + holds, (double) lost));
        } finally {
            bench.redis().flush();
        }
    }

    private static double cpu(Group group) {
        return Double.parseDouble(group.ask("cpu " + Sides.OURS));
    }

    private void serve(Bench bench, Report report) {
        Table table = new Table(
                "A million flows of one process want one lock at once",
                List.of(name(), "bytes a waiter", "served a second"));
        try (Group group = new Group(1, ROOMY)) {
            group.open(Sides.OURS, bench.redis().uri());
            String served = group.ask("serve " + Sides.OURS + " " + WAITERS);
            String bytes = group.ask("wait " + Sides.OURS + " " + WAITERS);
            table.add(List.of(
                    "1,000,000 waiters", bytes, String.format(Locale.ROOT, "%,.0f", Double.parseDouble(served))));
            report.add(Figure.of("served", "waiters-" + WAITERS, Double.parseDouble(served)));
        } finally {
            bench.redis().flush();
        }
        report.add(table);
    }

    private static String shown(double value) {
        return String.format(Locale.ROOT, "%.1f", value);
    }
}
