package io.github.reactivelock.benchmarks;

/** Something to measure. */
interface Scenario {

    /** Its name on the command line and in the figures. */
    String name();

    /** Measures and reports. */
    void run(Bench bench, Report report);
}
