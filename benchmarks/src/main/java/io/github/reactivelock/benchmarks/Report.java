package io.github.reactivelock.benchmarks;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalDouble;

/** All results: tables for people as they come, figures for machines at the end. */
final class Report {

    private final long since = System.nanoTime();
    private final PrintStream out;
    private final List<String> missing = new ArrayList<>();
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

    /** Prints progress; not part of the report. */
    void progress(String line) {
        long seconds = (System.nanoTime() - since) / 1_000_000_000;
        System.err.printf("[%3d s] %s%n", seconds, line);
    }

    void missing(Scenario scenario, RuntimeException cause) {
        missing.add(scenario.name() + ": " + cause.getMessage());
        progress(scenario.name() + " failed: " + cause);
    }

    /** The scenarios that failed, and why. */
    List<String> missing() {
        return missing;
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
        List<String> ours = race.sides().stream().filter(race::isOurs).toList();
        Map<Metric, Double> ourMedians = Race.medians(rounds.getOrDefault(race.ours(), List.of()));
        List<Metric> metrics =
                Arrays.stream(Metric.values()).filter(ourMedians::containsKey).toList();
        boolean hasPeers = ours.size() < race.sides().size();
        List<String> columns = new ArrayList<>(List.of(race.name()));
        metrics.forEach(metric -> columns.add(metric.title()));
        if (hasPeers) {
            ours.forEach(side -> columns.add(side + " is"));
        }
        Table table = new Table(race.title(), columns);
        rounds.forEach((side, sideRounds) -> {
            Map<Metric, Double> medians = Race.medians(sideRounds);
            List<String> row = new ArrayList<>(List.of(side));
            metrics.forEach(metric -> row.add(metric.show(medians.getOrDefault(metric, Double.NaN))));
            for (String subject : hasPeers ? ours : List.<String>of()) {
                row.add(race.isOurs(side) ? "" : compared(race, subject, side, rounds));
            }
            table.add(row);
        });
        add(table);
        ourMedians.forEach((metric, value) -> figure(race, metric, value));
    }

    /** Ours with other settings has its own name, such as {@code sequential-immediate}. */
    private String compared(Race race, String ours, String peer, Map<String, List<Map<Metric, Double>>> rounds) {
        List<Map<Metric, Double>> subject = rounds.getOrDefault(ours, List.of());
        List<Map<Metric, Double>> theirs = rounds.getOrDefault(peer, List.of());
        double ratio = Race.ratio(race.ranked(), subject, theirs);
        String settings = ours.substring(race.ours().length());
        add(Figure.ratio(race.name() + settings, peer, ratio));
        if (subject.get(0).containsKey(Metric.CHANGES) && !peer.equals(Sides.SQL_PING)) {
            double handOvers = Race.ratio(Metric.CHANGES, subject, theirs);
            add(Figure.ratio(race.name() + settings + "-hand-overs", peer, handOvers));
        }
        return String.format(Locale.ROOT, "%.2f ×", ratio);
    }

    private void figure(Race race, Metric metric, double value) {
        switch (metric) {
            case COMMANDS -> add(Figure.of("commands", race.name(), value));
            case PUBLISHED -> add(Figure.of("publishes", race.name(), value));
            case SUBSCRIBED -> add(Figure.of("subscribes", race.name(), value));
            case CLIENT_CPU -> {
                if (race.store().isSql() && race.clients() > 1) {
                    add(Figure.of("micros", race.name() + "-client", value));
                }
            }
            case HAND_OVER_TRIPS -> add(Figure.ratio(race.name() + "-hand-over", "round-trip", value));
            case HAND_OVER_BUSY_TRIPS -> add(Figure.ratio(race.name() + "-hand-over", "busy-round-trip", value));
            case CYCLE_TAIL -> add(Figure.ratio(race.name() + "-p99", "p50", value));
            case LONGEST_WAIT ->
                add(Figure.ratio(
                        race.name() + "-longest-wait",
                        "budgets",
                        value / (race.clients() * (double) Scenarios.BUDGET.toMillis())));
            default -> {}
        }
    }

    void printFigures() {
        figures.forEach(out::println);
    }
}
