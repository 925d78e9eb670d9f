package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.report.Figure;
import io.github.reactivelock.benchmarks.report.Metric;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.side.Sides;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * What a race comes to: its table and its figures.
 *
 * @param race the race
 * @param report what they are added to
 */
record Comparison(Race race, Report report) {

    void add(Map<String, List<Map<Metric, Double>>> rounds) {
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
                row.add(race.isOurs(side) ? "" : compared(subject, side, rounds));
            }
            table.add(row);
        });
        report.add(table);
        ourMedians.forEach((metric, value) -> figure(metric, value));
    }

    /** Ours with other settings has its own name, such as {@code sequential-immediate}. */
    private String compared(String ours, String peer, Map<String, List<Map<Metric, Double>>> rounds) {
        List<Map<Metric, Double>> subject = rounds.getOrDefault(ours, List.of());
        List<Map<Metric, Double>> theirs = rounds.getOrDefault(peer, List.of());
        double ratio = Race.ratio(race.ranked(), subject, theirs);
        String settings = ours.substring(race.ours().length());
        report.add(Figure.ratio(race.name() + settings, peer, ratio));
        if (subject.get(0).containsKey(Metric.CHANGES) && !peer.equals(Sides.SQL_PING)) {
            double handOvers = Race.ratio(Metric.CHANGES, subject, theirs);
            report.add(Figure.ratio(race.name() + settings + "-hand-overs", peer, handOvers));
        }
        return String.format(Locale.ROOT, "%.2f ×", ratio);
    }

    private void figure(Metric metric, double value) {
        switch (metric) {
            case COMMANDS -> report.add(Figure.of("commands", race.name(), value));
            case PUBLISHED -> report.add(Figure.of("publishes", race.name(), value));
            case SUBSCRIBED -> report.add(Figure.of("subscribes", race.name(), value));
            case CLIENT_CPU -> {
                if (race.store().isSql() && race.clients() > 1) {
                    report.add(Figure.of("micros", race.name() + "-client", value));
                }
            }
            case HAND_OVER_TRIPS -> report.add(Figure.ratio(race.name() + "-hand-over", "round-trip", value));
            case HAND_OVER_BUSY_TRIPS -> report.add(Figure.ratio(race.name() + "-hand-over", "busy-round-trip", value));
            case CYCLE_TAIL -> report.add(Figure.ratio(race.name() + "-p99", "p50", value));
            case LONGEST_WAIT ->
                report.add(Figure.ratio(
                        race.name() + "-longest-wait",
                        "budgets",
                        value / (race.clients() * (double) Sides.BUDGET.toMillis())));
            default -> {}
        }
    }
}
