package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.report.Report;
import java.util.List;

/** Something to measure. */
public interface Scenario {

    /** Its name on the command line and in the figures. */
    String name();

    /** What it consists of and can be run by itself. */
    default List<Scenario> parts() {
        return List.of();
    }

    /** Measures and reports. */
    void run(Bench bench, Report report);
}
