package io.github.reactivelock.benchmarks;

/** Something to measure. */
interface Scenario {

    /** As it is called on the command line and in the figures. */
    String name();

    /** Measures and reports. */
    void run(Bench bench, Report report);
}
