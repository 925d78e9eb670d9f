package io.github.reactivelock.benchmarks.webflux;

import io.github.reactivelock.benchmarks.client.Turn;
import io.github.reactivelock.benchmarks.client.WorkerProcess;
import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.scenario.Bench;
import io.github.reactivelock.benchmarks.scenario.Pace;
import io.github.reactivelock.benchmarks.scenario.Race;
import io.github.reactivelock.benchmarks.scenario.Scenario;
import io.github.reactivelock.benchmarks.side.Sides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.ToDoubleFunction;

/**
 * A WebFlux application under the load of {@code wrk}. Its sides take turns in one process, as those of a {@link Race}.
 * Then the application is started once more, with BlockHound, which would make figures of no worth.
 *
 * @param name as in the figures
 * @param title as in the document
 * @param keys how many locks the requests share
 */
public record WebFlux(String name, String title, int keys) implements Scenario {

    private static final List<String> SIDES = List.of(Sides.OURS, Sides.REDISSON_REACTIVE, WebFluxApp.NO_LOCK);
    private static final List<String> HEARD_BY_BLOCKHOUND =
            List.of("-XX:-PrintWarnings", "-XX:+AllowRedefinitionToAddDeleteMethods", "-XX:TieredStopAtLevel=1");

    /**
     * One side's turn.
     *
     * @param load as the clients saw it
     * @param lost requests that were counted and are missing in the count that only the lock protects
     */
    private record Turn(Wrk.Load load, long lost) {}

    @Override
    public void run(Bench bench, Report report) {
        bench.disband();
        String redis = bench.redis().uri();
        Map<String, List<Turn>> turns = new LinkedHashMap<>();
        SIDES.forEach(side -> turns.put(side, new ArrayList<>()));
        long blocked;
        try (Wrk wrk = new Wrk()) {
            try (App app = new App(wrk, keys, List.of(), redis)) {
                rounds(app, bench.pace(), report, turns);
            }
            report.progress(name + ": watched by BlockHound");
            try (App app = new App(wrk, keys, HEARD_BY_BLOCKHOUND, redis, "watched")) {
                app.turn(Sides.OURS, bench.pace().turn());
                blocked = Long.parseLong(app.ask("blocked"));
            }
        }
        report(report, turns, blocked);
    }

    private void rounds(App app, Pace pace, Report report, Map<String, List<Turn>> turns) {
        for (String side : SIDES) {
            report.progress(name + ": " + side + " warms up");
            app.turn(side, pace.warmUp().dividedBy(2));
        }
        for (int i = 0; i < pace.rounds(); i++) {
            List<String> order = new ArrayList<>(SIDES);
            if (i % 2 == 1) {
                Collections.reverse(order);
            }
            StringBuilder line = new StringBuilder();
            for (String side : order) {
                Turn turn = app.turn(side, pace.turn());
                turns.computeIfAbsent(side, s -> new ArrayList<>()).add(turn);
                line.append(", ").append(side).append(' ').append(shown("%,.0f", turn.load.perSecond()));
            }
            report.progress(name + ": round " + (i + 1) + " of " + pace.rounds() + line);
        }
    }

    private void report(Report report, Map<String, List<Turn>> turns, long blocked) {
        Table table = new Table(
                title, List.of(name, "requests a second", "p50, ms", "p99, ms", "errors", "lost counts", "ours is"));
        List<Turn> ours = turns.getOrDefault(Sides.OURS, List.of());
        turns.forEach((side, theirs) -> {
            double ratio = ratio(ours, theirs);
            if (!side.equals(Sides.OURS)) {
                report.add(Figure.ratio(name, side, ratio));
            }
            table.add(List.of(
                    side,
                    shown("%,.0f", median(theirs, turn -> turn.load.perSecond())),
                    shown("%.2f", median(theirs, turn -> turn.load.median())),
                    shown("%.2f", median(theirs, turn -> turn.load.tail())),
                    shown("%,.0f", sum(theirs, turn -> turn.load.errors())),
                    shown("%,.0f", sum(theirs, Turn::lost)),
                    side.equals(Sides.OURS) ? "" : shown("%.2f ×", ratio)));
        });
        report.add(table);
        report.add(Figure.of("errors", name, sum(ours, turn -> turn.load.errors())));
        report.add(Figure.of("lost", name, sum(ours, Turn::lost)));
        report.add(Figure.of("blocked", name, (double) blocked));
    }

    private static double ratio(List<Turn> ours, List<Turn> theirs) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.size(); i++) {
            ratios.add(ours.get(i).load.perSecond() / theirs.get(i).load.perSecond());
        }
        return Race.median(ratios);
    }

    private static double median(List<Turn> turns, ToDoubleFunction<Turn> of) {
        return Race.median(turns.stream().map(of::applyAsDouble).toList());
    }

    private static double sum(List<Turn> turns, ToDoubleFunction<Turn> of) {
        return turns.stream().mapToDouble(of).sum();
    }

    private static String shown(String format, double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** The application's process, and what asks it. */
    private static final class App implements AutoCloseable {

        private final Wrk wrk;
        private final int keys;
        private final WorkerProcess process;
        private final String address;
        private int turns;

        App(Wrk wrk, int keys, List<String> options, String... arguments) {
            this.wrk = wrk;
            this.keys = keys;
            this.process = new WorkerProcess(options, WebFluxApp.class, arguments);
            this.address = "http://127.0.0.1:" + process.answer();
        }

        String ask(String question) {
            process.send(question);
            return process.answer();
        }

        /**
         * Each turn has locks of its own, so that the requests that wrk leaves at the end of one, some of them with a
         * lock, are nothing to the next.
         */
        Turn turn(String side, Duration time) {
            Tally before = Tally.of(ask(side));
            Wrk.Load load = wrk.run(address + "/" + side + "/" + ++turns + "/", keys, time);
            Tally counted = Tally.of(ask(side)).since(before);
            return new Turn(load, counted.lost(load.answered()));
        }

        @Override
        public void close() {
            process.close();
        }
    }

    /**
     * What the application counted.
     *
     * @param times how often
     * @param count what came of it
     */
    private record Tally(long times, long count) {

        static Tally of(String answer) {
            String[] parts = answer.split(" ", -1);
            return new Tally(Long.parseLong(parts[0]), Long.parseLong(parts[1]));
        }

        Tally since(Tally before) {
            return new Tally(times - before.times, count - before.count);
        }

        /** Beyond what was answered there may be only what was under way at the end. */
        long lost(long answered) {
            if (times < answered || times > answered + Wrk.CONNECTIONS) {
                throw new IllegalStateException(answered + " requests were answered and " + times + " were counted");
            }
            return times - count;
        }
    }
}
