package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.report.Report;
import java.util.List;

/** Scenarios under one name. Each has its own processes, because a side that is open there has its server already. */
public record Several(String name, List<? extends Scenario> scenarios) implements Scenario {

    @Override
    public List<Scenario> parts() {
        return scenarios.stream()
                .<Scenario>map(one -> new Several(one.name(), List.of(one)))
                .toList();
    }

    @Override
    public void run(Bench bench, Report report) {
        for (Scenario one : scenarios) {
            bench.disband();
            one.run(bench, report);
        }
        bench.disband();
    }
}
