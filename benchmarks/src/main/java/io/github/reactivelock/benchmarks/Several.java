package io.github.reactivelock.benchmarks;

import java.util.List;

/** Races under one name. Each has processes of its own, because a side that is open there has its server already. */
record Several(String name, List<Race> races) implements Scenario {

    @Override
    public List<Scenario> parts() {
        return races.stream()
                .<Scenario>map(race -> new Several(race.name(), List.of(race)))
                .toList();
    }

    @Override
    public void run(Bench bench, Report report) {
        for (Race race : races) {
            bench.disband();
            race.run(bench, report);
        }
        bench.disband();
    }
}
