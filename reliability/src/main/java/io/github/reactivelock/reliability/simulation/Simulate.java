package io.github.reactivelock.reliability.simulation;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** Runs plan after plan, and says of each that went wrong how to see it again. */
@Command(
        name = "./simulate",
        description = "Runs fleets of clients in a time of their own while things break, each from a seed that decides"
                + " everything. Prints the seed of whatever goes wrong, and exits with 1 then.",
        mixinStandardHelpOptions = true)
public final class Simulate implements Callable<Integer> {

    @Option(names = "--minutes", description = "how long (default: ${DEFAULT-VALUE})", defaultValue = "1")
    private double minutes;

    @Option(names = "--seed", description = "replay this one, with a log, and find out which faults it takes")
    private @Nullable Long seed;

    @Option(names = "--from", description = "the first seed; drawn by chance if not given")
    private @Nullable Long from;

    @Option(
            names = "--planted",
            description =
                    "put old defects back, one after the other, and see how soon each is found (--minutes for each)")
    private boolean planted;

    @Option(names = "--only", description = "with --planted: those whose file's name contains this", defaultValue = "")
    private String only = "";

    @Option(names = "--first", description = "end with the first one that goes wrong")
    private boolean first;

    private final PrintStream out;

    Simulate(PrintStream out) {
        this.out = out;
    }

    /**
     * Runs it.
     *
     * @param args see {@code --help}
     */
    public static void main(String... args) {
        System.exit(new CommandLine(new Simulate(System.out)).execute(args));
    }

    @Override
    public Integer call() throws IOException, InterruptedException {
        if (planted) {
            Duration longest = Duration.ofMillis((long) (minutes * 60_000));
            return new Planted(Path.of(System.getProperty("reactivelock.root", "")), out).findAll(longest, only)
                    ? 0
                    : 1;
        }
        Long replayed = seed;
        return replayed == null ? search() : replay(Plan.of(replayed));
    }

    private int search() {
        long end = System.nanoTime() + (long) (minutes * 60e9);
        long begun = System.nanoTime();
        long next = from == null ? new SplittableRandom().nextLong(1_000_000_000) : from;
        Total total = new Total();
        while ((System.nanoTime() < end || total.seeds == 0) && !(first && total.wrong() > 0)) {
            Plan plan = Plan.of(next++);
            Oracle.Result result = Run.of(plan, null);
            total.add(result);
            if (!result.isRight()) {
                out.println("seed=" + plan.seed() + " " + plan);
                result.wrong().stream().limit(5).forEach(what -> out.println("  " + what));
            }
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        out.printf(Locale.ROOT, "%.0f acquisitions a second%n", total.acquisitions / seconds);
        out.println(total);
        return total.wrong() == 0 ? 0 : 1;
    }

    private int replay(Plan plan) {
        out.println(plan);
        Oracle.Result result = Run.of(plan, out::println);
        if (result.isRight()) {
            out.println("nothing went wrong; trace=" + Long.toHexString(result.trace()));
            return 0;
        }
        result.wrong().forEach(out::println);
        out.println("trace=" + Long.toHexString(result.trace()) + ", the fewest faults it takes:");
        shrink(plan, smaller -> !Run.of(smaller, null).isRight()).faults().forEach(fault -> out.println("  " + fault));
        return 1;
    }

    /** Leaves out one fault after the other, as long as it goes wrong all the same. */
    static Plan shrink(Plan plan, Predicate<Plan> goesWrong) {
        Plan smallest = plan;
        boolean smaller = true;
        while (smaller) {
            smaller = false;
            for (int i = 0; i < smallest.faults().size() && !smaller; i++) {
                List<Fault> fewer = new ArrayList<>(smallest.faults());
                Fault unused = fewer.remove(i);
                Plan tried = smallest.with(fewer);
                if (goesWrong.test(tried)) {
                    smallest = tried;
                    smaller = true;
                }
            }
        }
        return smallest;
    }

    /** Of all seeds. */
    private static final class Total {
        private long seeds;
        private long acquisitions;
        private long overlaps;
        private long regressions;
        private long lostWakeups;
        private long leaks;

        void add(Oracle.Result result) {
            seeds++;
            acquisitions += result.acquisitions();
            overlaps += result.overlaps().size();
            regressions += result.regressions().size();
            lostWakeups += result.lostWakeups().size();
            leaks += result.leaks().size();
        }

        long wrong() {
            return overlaps + regressions + lostWakeups + leaks;
        }

        @Override
        public String toString() {
            return String.format(
                    "seeds=%d acquisitions=%d overlaps=%d token_regressions=%d lost_wakeups=%d leaks=%d",
                    seeds, acquisitions, overlaps, regressions, lostWakeups, leaks);
        }
    }
}
