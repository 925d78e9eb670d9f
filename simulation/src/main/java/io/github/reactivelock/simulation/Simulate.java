package io.github.reactivelock.simulation;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicLong;
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

    @Option(names = "--seeds", description = "how many at most, whatever the time")
    private long seeds = Long.MAX_VALUE;

    @Option(names = "--step", description = "how far it is from one seed to the next: 40 for those of one kind")
    private long step = 1;

    @Option(names = "--store", description = "only seeds of this one: ${COMPLETION-CANDIDATES}")
    private Plan.@Nullable Store store;

    @Option(names = "--threads", description = "how many seeds at a time (default: one for each processor)")
    private int threads = Runtime.getRuntime().availableProcessors();

    @Option(
            names = "--planted",
            description =
                    "put old defects back, one after the other, and see how soon each is found (--minutes for each)")
    private boolean planted;

    @Option(names = "--only", description = "with --planted: those whose file's name contains this", defaultValue = "")
    private String only = "";

    @Option(
            names = "--first",
            description = "end with the first one that goes wrong; --minutes are the processor's then")
    private boolean first;

    /** Begins the line that says what a search has cost. */
    static final String PROCESSOR_SECONDS = "processor_seconds=";

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
    public Integer call() throws IOException, InterruptedException, ExecutionException {
        if (planted) {
            Duration longest = Duration.ofMillis((long) (minutes * 60_000));
            return new Planted(Path.of(System.getProperty("reactivelock.root", "")), out).findAll(longest, only)
                    ? 0
                    : 1;
        }
        Long replayed = seed;
        return replayed == null ? search() : replay(Plan.of(replayed));
    }

    private int search() throws InterruptedException, ExecutionException {
        long begun = System.nanoTime();
        long end = begun + (long) (minutes * 60e9);
        AtomicLong next = new AtomicLong(from == null ? new SplittableRandom().nextLong(1_000_000_000) : from);
        Total total = new Total();
        ExecutorService workers = Executors.newFixedThreadPool(threads);
        try {
            List<Future<Object>> all = workers.invokeAll(Collections.nCopies(threads, () -> {
                do {
                    judge(plan(next), total);
                } while (total.seeds() < seeds && hasTime(end) && !(first && total.wrong() > 0));
                return total;
            }));
            for (Future<Object> worker : all) {
                worker.get();
            }
        } finally {
            workers.shutdownNow();
        }
        double seconds = (System.nanoTime() - begun) / 1e9;
        out.printf(Locale.ROOT, "%.0f acquisitions a second%n", total.acquisitions / seconds);
        out.printf(Locale.ROOT, PROCESSOR_SECONDS + "%.1f%n", processorSeconds());
        out.println(total);
        return total.wrong() == 0 ? 0 : 1;
    }

    /** What else the machine does takes nothing from a search for one that goes wrong. */
    private boolean hasTime(long end) {
        return first ? processorSeconds() < minutes * 60 : System.nanoTime() < end;
    }

    private static double processorSeconds() {
        return ProcessHandle.current()
                .info()
                .totalCpuDuration()
                .map(spent -> spent.toMillis() / 1e3)
                .orElse(0.0);
    }

    /** The next seed's, of the kind that is looked at. */
    private Plan plan(AtomicLong next) {
        Plan plan = Plan.of(next.getAndAdd(step));
        while (store != null && plan.store() != store) {
            plan = Plan.of(next.getAndAdd(step));
        }
        return plan;
    }

    private void judge(Plan plan, Total total) {
        Result result;
        try {
            result = Run.of(plan, null);
        } catch (RuntimeException | Error e) {
            out.println("seed=" + plan.seed() + " " + plan);
            throw e;
        }
        total.add(result);
        if (!result.isRight()) {
            synchronized (out) {
                out.println("seed=" + plan.seed() + " " + plan);
                result.wrong().stream().limit(5).forEach(what -> out.println("  " + what));
            }
        }
    }

    private int replay(Plan plan) {
        out.println(plan);
        Result result = Run.of(plan, out::println);
        if (result.isRight()) {
            out.println("nothing went wrong; trace=" + Long.toHexString(result.trace()));
            return 0;
        }
        result.wrong().forEach(out::println);
        out.println("trace=" + Long.toHexString(result.trace()) + ", the fewest faults it takes:");
        shrink(plan, smaller -> !Run.of(smaller, null).isRight()).faults().forEach(fault -> out.println("  " + fault));
        return 1;
    }

    /**
     * Leaves out half of the faults, a quarter, and in the end one after the other, as long as it goes wrong all the
     * same.
     */
    static Plan shrink(Plan plan, Predicate<Plan> goesWrong) {
        Plan smallest = plan;
        for (int part = Math.max(1, plan.faults().size() / 2); part > 0; part /= 2) {
            int from = 0;
            while (from < smallest.faults().size()) {
                List<Fault> fewer = new ArrayList<>(smallest.faults());
                fewer.subList(from, Math.min(from + part, fewer.size())).clear();
                Plan tried = smallest.with(fewer);
                if (goesWrong.test(tried)) {
                    smallest = tried;
                } else {
                    from += part;
                }
            }
        }
        return smallest;
    }

    /** What all seeds have shown. */
    private static final class Total {
        private long seeds;
        private long acquisitions;
        private long overlaps;
        private long regressions;
        private long lostWakeups;
        private long leaks;
        private long untold;
        private long unavailable;

        synchronized void add(Result result) {
            seeds++;
            acquisitions += result.acquisitions();
            overlaps += result.overlaps().size();
            regressions += result.regressions().size();
            lostWakeups += result.lostWakeups().size();
            leaks += result.leaks().size();
            untold += result.untold().size();
            unavailable += result.unavailable().size();
        }

        synchronized long seeds() {
            return seeds;
        }

        synchronized long wrong() {
            return overlaps + regressions + lostWakeups + leaks + untold + unavailable;
        }

        @Override
        public String toString() {
            return String.format(
                    "seeds=%d acquisitions=%d overlaps=%d token_regressions=%d lost_wakeups=%d leaks=%d untold=%d"
                            + " unavailable=%d",
                    seeds, acquisitions, overlaps, regressions, lostWakeups, leaks, untold, unavailable);
        }
    }
}
