package io.github.reactivelock.benchmarks.report;

import io.github.reactivelock.benchmarks.client.Load;
import io.github.reactivelock.benchmarks.client.Outcome;
import io.github.reactivelock.benchmarks.server.Usage;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;

/** The result of one side's turn. */
public final class Round {

    private static final double MICRO = 1_000;
    private static final double MILLI = 1_000_000;
    private static final int MOMENTS = 3;

    private Round() {}

    public static Map<Metric, Double> of(Outcome outcome, Load load, int processes, Duration turn, Usage usage) {
        Map<Metric, Double> values = new EnumMap<>(Metric.class);
        double total = Math.max(1, outcome.total());
        values.put(Metric.PER_SECOND, outcome.inTime() * 1e9 / turn.toNanos());
        values.put(Metric.CLIENT_CPU, outcome.cpu() / MICRO / total);
        if (usage.sent() > 0) {
            values.put(Metric.SERVER_CPU, usage.cpuMicros() / total);
            values.put(Metric.SCRIPTS, usage.scriptMicros() / total);
            values.put(Metric.COMMANDS, usage.sent() / total);
            values.put(Metric.PUBLISHED, usage.published() / total);
            values.put(Metric.SUBSCRIBED, usage.subscribed() / total);
        }
        if (load.note().hasGaps()) {
            values.put(Metric.LONGEST_WAIT, outcome.longestGap() / MILLI);
        }
        if (outcome.moments().length > 0) {
            long[] cycles = cycles(outcome.moments());
            double median = at(cycles, 0.5);
            values.put(Metric.CYCLE_MEDIAN, median / MICRO);
            values.put(Metric.CYCLE_TAIL, at(cycles, 0.99) / median);
            if (processes > 1 && load.note() == Load.Note.LATENCY) {
                values.put(Metric.CHANGES, outcome.changes() * 1e9 / turn.toNanos());
                values.put(Metric.LONGEST_ACQUIRE, longestAcquire(outcome.moments()) / MILLI);
            }
            if (load.note() == Load.Note.EVENTS) {
                values.put(Metric.HAND_OVER, at(handOvers(outcome.moments()), 0.5) / MICRO);
            }
        }
        return values;
    }

    private static double longestAcquire(long[] moments) {
        long longest = 0;
        for (int i = 0; i < moments.length; i += MOMENTS) {
            longest = Math.max(longest, moments[i + 1] - moments[i]);
        }
        return longest;
    }

    /** Times from the call to the confirmed release, sorted. */
    public static long[] cycles(long[] moments) {
        long[] cycles = new long[moments.length / MOMENTS];
        for (int i = 0; i < cycles.length; i++) {
            cycles[i] = moments[MOMENTS * i + 2] - moments[MOMENTS * i];
        }
        Arrays.sort(cycles);
        return cycles;
    }

    /** Times from one flow's entry, after which it gives back at once, to the next flow's entry, sorted. */
    public static long[] handOvers(long[] moments) {
        long[] entered = new long[moments.length / MOMENTS];
        for (int i = 0; i < entered.length; i++) {
            entered[i] = moments[MOMENTS * i + 1];
        }
        Arrays.sort(entered);
        long[] handOvers = new long[Math.max(1, entered.length - 1)];
        for (int i = 0; i + 1 < entered.length; i++) {
            handOvers[i] = entered[i + 1] - entered[i];
        }
        Arrays.sort(handOvers);
        return handOvers;
    }

    public static double at(long[] sorted, double quantile) {
        return sorted[(int) Math.min(sorted.length - 1, (long) (quantile * sorted.length))];
    }
}
