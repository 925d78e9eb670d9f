package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.client.Group;
import io.github.reactivelock.benchmarks.client.Load;
import io.github.reactivelock.benchmarks.client.Outcome;
import io.github.reactivelock.benchmarks.report.Metric;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Round;
import io.github.reactivelock.benchmarks.server.Server;
import io.github.reactivelock.benchmarks.server.Store;
import io.github.reactivelock.benchmarks.server.Usage;
import io.github.reactivelock.benchmarks.side.Sides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Sides that do the same in turns: A B C, then C B A, and so on, so that other load on the machine meets all of them. A
 * ratio is taken within a round; the report has its median over the rounds.
 *
 * @param name as in the figures
 * @param title as in the document
 * @param store the server
 * @param clients how many processes
 * @param load what they do together
 * @param ranked the metric of the ratios
 * @param sides the sides; the first is ours, and so are others whose names begin with its name
 */
public record Race(String name, String title, Store store, int clients, Load load, Metric ranked, List<String> sides)
        implements Scenario {

    private static final Duration ROUND_TRIP_TIME = Duration.ofMillis(100);

    public String ours() {
        return sides.get(0);
    }

    boolean isOurs(String side) {
        return side.startsWith(ours());
    }

    @Override
    public void run(Bench bench, Report report) {
        Map<String, List<Map<Metric, Double>>> rounds = new LinkedHashMap<>();
        sides.forEach(side -> rounds.put(side, new ArrayList<>()));
        Pace pace = paceOf(bench.pace().forClients(clients));
        Group group = bench.group(clients);
        String uri = bench.server(store).uri();
        if (inTrips()) {
            group.open(Sides.PING, uri);
            roundTrip(group, 1);
            roundTrip(group, clients);
        }
        for (String side : sides) {
            report.progress(name + ": " + side + " warms up");
            group.open(side, uri);
            warmUp(group, side, pace.warmUp().dividedBy(2));
        }
        if (load.flows() == 1) {
            Processors apart = Processors.apart(bench.server(store).pids(), group.pid(), report);
            try {
                rounds(bench, group, pace.forOneFlow(), report, rounds);
            } finally {
                apart.close();
            }
        } else {
            rounds(bench, group, pace, report, rounds);
        }
        new Comparison(this, report).add(rounds);
    }

    private Pace paceOf(Pace ordinary) {
        if (load.note() == Load.Note.WAITS) {
            return ordinary.forLongWaits();
        }
        return store.isSql() && load.flows() == 1 ? ordinary.forOneFlowOfADatabase() : ordinary;
    }

    private void rounds(
            Bench bench, Group group, Pace pace, Report report, Map<String, List<Map<Metric, Double>>> rounds) {
        boolean inTrips = inTrips();
        for (int i = 0; i < pace.rounds(); i++) {
            List<String> order = new ArrayList<>(sides);
            if (i % 2 == 1) {
                Collections.reverse(order);
            }
            double trip = inTrips ? roundTrip(group, 1) : Double.NaN;
            double busyTrip = inTrips ? roundTrip(group, clients) : Double.NaN;
            StringBuilder line = new StringBuilder();
            for (String side : order) {
                Map<Metric, Double> round = turn(bench.server(store), group, side, pace.turn(), report);
                if (inTrips) {
                    double handOver = round.getOrDefault(Metric.HAND_OVER, Double.NaN);
                    round.put(Metric.HAND_OVER_TRIPS, handOver / trip);
                    round.put(Metric.HAND_OVER_BUSY_TRIPS, handOver / busyTrip);
                }
                rounds.computeIfAbsent(side, s -> new ArrayList<>()).add(round);
                line.append(", ").append(side).append(' ').append(shown(round));
            }
            report.progress(name + ": round " + (i + 1) + " of " + pace.rounds() + line);
        }
    }

    private boolean inTrips() {
        return load.note() == Load.Note.EVENTS;
    }

    private String shown(Map<Metric, Double> round) {
        return ranked.show(round.getOrDefault(ranked, Double.NaN));
    }

    /**
     * Etcd's own lock warms up on one key: with many flows over many keys some were never served. Databases get a key
     * for each flow: where flows share one, ours passes it on in the process and would warm up hardly any statement.
     */
    private void warmUp(Group group, String side, Duration half) {
        Load wide = side.equals(Sides.JETCD) ? load : store.isSql() ? load.distinct() : load.wide();
        group.run(side, wide, half);
        group.run(side, load, half);
    }

    private Map<Metric, Double> turn(Server server, Group group, String side, Duration time, Report report) {
        Usage before = server.usage(side);
        Outcome outcome = group.run(side, load, time);
        Usage usage = server.usage(side).since(before);
        report.latencies(name, side, outcome);
        return Round.of(outcome, load, clients, time, usage);
    }

    /** In microseconds, while the given number of clients only PING, each one at a time. */
    private static double roundTrip(Group group, int clients) {
        Outcome pings = group.run(Sides.PING, new Load(clients, 1, Load.Note.LATENCY), ROUND_TRIP_TIME);
        return Round.at(Round.cycles(pings.moments()), 0.5) / 2 / 1_000;
    }

    /** The median of every metric over the rounds, or the worst value where only that counts. */
    static Map<Metric, Double> medians(List<Map<Metric, Double>> rounds) {
        Map<Metric, Double> medians = new EnumMap<>(Metric.class);
        for (Metric metric : rounds.get(0).keySet()) {
            List<Double> values = rounds.stream()
                    .map(round -> round.getOrDefault(metric, Double.NaN))
                    .toList();
            medians.put(metric, isWorst(metric) ? Collections.max(values) : median(values));
        }
        return medians;
    }

    private static boolean isWorst(Metric metric) {
        return metric == Metric.LONGEST_WAIT || metric == Metric.LONGEST_ACQUIRE;
    }

    public static double ratio(Metric metric, List<Map<Metric, Double>> ours, List<Map<Metric, Double>> theirs) {
        List<Double> ratios = new ArrayList<>();
        for (int i = 0; i < ours.size(); i++) {
            ratios.add(metric.ratio(
                    ours.get(i).getOrDefault(metric, Double.NaN), theirs.get(i).getOrDefault(metric, Double.NaN)));
        }
        return median(ratios);
    }

    public static double median(List<Double> values) {
        List<Double> sorted = values.stream().sorted().toList();
        int half = sorted.size() / 2;
        return sorted.size() % 2 == 1 ? sorted.get(half) : (sorted.get(half - 1) + sorted.get(half)) / 2;
    }
}
