package io.github.reactivelock.benchmarks;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** Everything that was measured: tables for people as they come, figures for machines at the end. */
final class Report {

    private final PrintStream out;
    private final List<Table> tables = new ArrayList<>();
    private final List<Figure> figures = new ArrayList<>();
    private final Map<String, Map<String, long[]>> latencies = new LinkedHashMap<>();

    Report(PrintStream out) {
        this.out = out;
    }

    List<Table> tables() {
        return tables;
    }

    List<Figure> figures() {
        return figures;
    }

    /** Sorted times of acquire + release of each side's last turn, by scenario and side. */
    Map<String, Map<String, long[]>> latencies() {
        return latencies;
    }

    OptionalDouble value(String name) {
        return figures.stream()
                .filter(figure -> figure.name().equals(name))
                .mapToDouble(Figure::value)
                .findFirst();
    }

    void add(Table table) {
        tables.add(table);
        out.println(table.title());
        out.println(table.text());
    }

    void add(Figure figure) {
        figures.add(figure);
    }

    void latencies(Race race, String side, Outcome outcome) {
        if (outcome.moments().length > 0) {
            latencies
                    .computeIfAbsent(race.name(), name -> new LinkedHashMap<>())
                    .put(side, Round.cycles(outcome.moments()));
        }
    }

    void race(Race race, Map<String, List<Map<Metric, Double>>> rounds) {
        String ours = race.sides().get(0);
        List<Map<Metric, Double>> ourRounds = rounds.getOrDefault(ours, List.of());
        Map<Metric, Double> ourMedians = Race.medians(ourRounds);
        List<Metric> metrics =
                Arrays.stream(Metric.values()).filter(ourMedians::containsKey).toList();
        List<String> columns = new ArrayList<>(List.of(race.name()));
        metrics.forEach(metric -> columns.add(metric.title()));
        columns.add(ours + " is");
        Table table = new Table(race.title(), columns);
        rounds.forEach((side, sideRounds) -> {
            Map<Metric, Double> medians = Race.medians(sideRounds);
            List<String> row = new ArrayList<>(List.of(side));
            metrics.forEach(metric -> row.add(metric.show(medians.getOrDefault(metric, Double.NaN))));
            if (side.equals(ours)) {
                row.add("");
            } else {
                double ratio = Race.ratio(race.ranked(), ourRounds, sideRounds);
                row.add(String.format(Locale.ROOT, "%.2f ×", ratio));
                add(Figure.ratio(race.name(), side, ratio));
            }
            table.add(row);
        });
        add(table);
        ourMedians.forEach((metric, value) -> figure(race, metric, value));
    }

    private void figure(Race race, Metric metric, double value) {
        switch (metric) {
            case COMMANDS -> add(Figure.of("commands", race.name(), value));
            case PUBLISHED -> add(Figure.of("publishes", race.name(), value));
            case SUBSCRIBED -> add(Figure.of("subscribes", race.name(), value));
            case HAND_OVER_TRIPS -> add(Figure.ratio(race.name() + "-hand-over", "round-trip", value));
            case CYCLE_TAIL -> add(Figure.ratio(race.name() + "-p99", "p50", value));
            case LONGEST_WAIT ->
                add(Figure.ratio(
                        race.name() + "-longest-wait", "budgets", value / (race.clients() * Scenarios.BUDGET_MILLIS)));
            default -> {}
        }
    }

    void printFigures() {
        figures.forEach(out::println);
    }
}
