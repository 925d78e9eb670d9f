package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.client.Group;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.side.Sides;
import java.util.List;

/** The heap that a waiter and a hold take, each side in its own process. */
public final class Memory implements Scenario {

    private static final int WAITERS = 100_000;
    private static final int HOLDS = 10_000;
    private static final List<String> SIDES = List.of(Sides.OURS, Sides.REDISSON_ASYNC);

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public void run(Bench bench, Report report) {
        Table table = new Table(
                "Heap after garbage collection: 100,000 flows waiting for one lock, 10,000 locks held",
                List.of(name(), "bytes a waiter", "bytes a hold"));
        for (String side : SIDES) {
            report.progress(name() + ": " + side);
            long waiter = measure(bench, side, "wait", WAITERS);
            long hold = measure(bench, side, "hold", HOLDS);
            table.add(List.of(side, Long.toString(waiter), Long.toString(hold)));
            if (side.equals(Sides.OURS)) {
                report.add(Figure.of("bytes", "waiter", (double) waiter));
                report.add(Figure.of("bytes", "hold", (double) hold));
            }
        }
        report.add(table);
    }

    private static long measure(Bench bench, String side, String what, int count) {
        bench.disband();
        try (Group group = new Group(1)) {
            group.open(side, bench.redis().uri());
            return Long.parseLong(group.ask(what + " " + side + " " + count));
        } finally {
            bench.redis().flush();
        }
    }
}
