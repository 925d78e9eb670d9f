package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.inside.HandOverBenchmark;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;
import org.openjdk.jmh.runner.options.VerboseMode;

/** JMH on the in-process store: the engine's own cost of an operation. */
public final class Inside implements Scenario {

    private static final String ALLOCATED = "gc.alloc.rate.norm";

    @Override
    public String name() {
        return "jmh";
    }

    @Override
    public void run(Bench bench, Report report) {
        bench.disband();
        report.progress(name() + ": takes about a minute");
        Table table = new Table(
                "Inside the process, by JMH on the in-process store",
                List.of(name(), "operations a second", "error", "bytes allocated each"));
        for (RunResult result : results()) {
            Result<?> primary = result.getPrimaryResult();
            Result<?> allocated = result.getSecondaryResults().get(ALLOCATED);
            String full = result.getParams().getBenchmark();
            String benchmark = full.substring(full.lastIndexOf('.', full.lastIndexOf('.') - 1) + 1);
            if (allocated != null) {
                report.add(Figure.of("bytes", benchmark, allocated.getScore()));
            }
            table.add(List.of(
                    benchmark,
                    shown(primary.getScore()),
                    "± " + shown(primary.getScoreError()),
                    allocated == null ? "" : shown(allocated.getScore())));
        }
        report.add(table);
    }

    private static Collection<RunResult> results() {
        try {
            return new Runner(new OptionsBuilder()
                            .include(HandOverBenchmark.class.getPackageName())
                            .mode(Mode.Throughput)
                            .addProfiler(GCProfiler.class)
                            .forks(1)
                            // Not those of this process.
                            .jvmArgs("-Xmx1g", "-XX:+UseSerialGC")
                            .warmupIterations(5)
                            .warmupTime(TimeValue.seconds(1))
                            .measurementIterations(5)
                            .measurementTime(TimeValue.seconds(1))
                            .verbosity(VerboseMode.SILENT)
                            .build())
                    .run();
        } catch (RunnerException e) {
            throw new IllegalStateException("JMH could not run", e);
        }
    }

    private static String shown(double value) {
        return String.format(Locale.ROOT, "%,.0f", value);
    }
}
