package io.github.reactivelock.benchmarks;

import io.github.reactivelock.benchmarks.report.Document;
import io.github.reactivelock.benchmarks.report.Machine;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.report.Target;
import io.github.reactivelock.benchmarks.scenario.Bench;
import io.github.reactivelock.benchmarks.scenario.Pace;
import io.github.reactivelock.benchmarks.scenario.Scenario;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The command line. */
@Command(
        name = "benchmarks/run",
        mixinStandardHelpOptions = true,
        description =
                "Measures this library beside others. Without a scenario it runs all of them and writes the report.")
final class Benchmarks implements Callable<Integer> {

    @Parameters(paramLabel = "scenario", description = "What to run; everything if none is given.")
    private List<String> names = new ArrayList<>();

    @Option(names = "--quick", description = "Fewer and shorter turns, fewer sides; ends within 50 seconds.")
    private boolean quick;

    @Option(names = "--list", description = "Prints the scenarios' names and ends.")
    private boolean list;

    @Option(
            names = "--rounds",
            paramLabel = "number",
            description = "How many turns each side has, instead of the usual number.")
    private @Nullable Integer rounds;

    @Option(names = "--turn", paramLabel = "duration", description = "How long each turn is, such as PT0.5S.")
    private @Nullable Duration turn;

    @Option(names = "--warm-up", paramLabel = "duration", description = "How long each side runs before its turns.")
    private @Nullable Duration warmUp;

    @Option(names = "--report", paramLabel = "directory", description = "Writes the report there, for any scenarios.")
    private @Nullable Path elsewhere;

    @Option(names = "--docs", hidden = true, description = "Where a run of everything writes its report.")
    private @Nullable Path docs;

    /**
     * Runs what the arguments name.
     *
     * @param args see {@code --help}
     */
    public static void main(String[] args) {
        System.exit(new CommandLine(new Benchmarks()).execute(args));
    }

    @Override
    public Integer call() {
        if (list) {
            (quick ? Scenarios.quick() : Scenarios.all()).forEach(scenario -> System.out.println(scenario.name()));
            return 0;
        }
        List<Scenario> chosen = chosen();
        Report report = new Report(System.out);
        try (Bench bench = new Bench(pace())) {
            for (Scenario scenario : chosen) {
                try {
                    scenario.run(bench, report);
                } catch (RuntimeException e) {
                    report.missing(scenario.name(), e);
                    bench.disband();
                }
            }
            Path directory = reportDirectory();
            if (directory != null) {
                report.progress("writing " + directory.resolve("performance.md"));
                Document.write(report, new Machine(bench.versions()), directory);
            }
        }
        Table targets = Target.table(report);
        if (!targets.isEmpty()) {
            report.add(targets);
        }
        report.printFigures();
        report.progress(report.missing().isEmpty() ? "done" : "not measured: " + report.missing());
        return report.missing().isEmpty() ? 0 : 1;
    }

    private @Nullable Path reportDirectory() {
        if (elsewhere != null) {
            return elsewhere;
        }
        return quick || !names.isEmpty() ? null : docs;
    }

    private Pace pace() {
        Pace usual = quick ? Pace.QUICK : Pace.FULL;
        return new Pace(
                warmUp == null ? usual.warmUp() : warmUp,
                turn == null ? usual.turn() : turn,
                rounds == null ? usual.rounds() : rounds,
                usual.watch());
    }

    private List<Scenario> chosen() {
        List<Scenario> known = new ArrayList<>(quick ? Scenarios.quick() : Scenarios.all());
        if (names.isEmpty()) {
            return known;
        }
        if (quick) {
            Scenarios.all().stream()
                    .filter(scenario ->
                            known.stream().noneMatch(shorter -> shorter.name().equals(scenario.name())))
                    .forEach(known::add);
        }
        List.copyOf(known).forEach(scenario -> known.addAll(scenario.parts()));
        List<String> strange = new ArrayList<>(names);
        strange.removeIf(
                name -> known.stream().anyMatch(scenario -> scenario.name().equals(name)));
        if (!strange.isEmpty()) {
            throw new CommandLine.ParameterException(
                    new CommandLine(this),
                    "no such scenario: " + strange + "; there are "
                            + known.stream().map(Scenario::name).toList());
        }
        return known.stream()
                .filter(scenario -> names.contains(scenario.name()))
                .toList();
    }
}
