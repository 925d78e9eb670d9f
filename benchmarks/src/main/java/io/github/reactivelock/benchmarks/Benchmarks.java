package io.github.reactivelock.benchmarks;

import java.nio.file.Path;
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
        List<Scenario> known = quick ? Scenarios.quick() : Scenarios.all();
        if (list) {
            known.forEach(scenario -> System.out.println(scenario.name()));
            return 0;
        }
        List<Scenario> chosen = chosen(known);
        Report report = new Report(System.out);
        try (Bench bench = new Bench(quick ? Pace.QUICK : Pace.FULL)) {
            for (Scenario scenario : chosen) {
                scenario.run(bench, report);
            }
            if (docs != null && !quick && names.isEmpty()) {
                Document.write(report, new Machine(bench.versions()), docs);
            }
        }
        report.add(Target.table(report));
        report.printFigures();
        return 0;
    }

    private List<Scenario> chosen(List<Scenario> known) {
        if (names.isEmpty()) {
            return known;
        }
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
