package io.github.reactivelock.benchmarks;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Where a client's processor time goes, part by part, for the scenarios with the tightest bounds. */
final class Profile implements Scenario {

    private static final Duration TIME = Duration.ofSeconds(3);
    private static final List<String> ALONE =
            List.of(Sides.OURS, Sides.RAW_REACTIVE_HOP, Sides.OURS_IMMEDIATE, Sides.RAW_REACTIVE);
    private static final int CLIENTS = 4;

    @Override
    public String name() {
        return "profile";
    }

    @Override
    public void run(Bench bench, Report report) {
        report.add(table(
                bench,
                report,
                "one at a time, each in a process of its own",
                ALONE,
                new Load(1, 1, Load.Note.COUNT),
                1));
        report.add(table(
                bench,
                report,
                "one key, one flow in each of " + CLIENTS + " processes in order, one of the processes",
                List.of(Sides.OURS_FIFO, Sides.OURS_FIFO_IMMEDIATE),
                new Load(CLIENTS, 1, Load.Note.COUNT),
                CLIENTS));
    }

    private Table table(Bench bench, Report report, String title, List<String> sides, Load load, int clients) {
        List<String> columns = new ArrayList<>(List.of(name()));
        columns.addAll(sides);
        Table table = new Table("Where a client's processor time goes, in percent: " + title, columns);
        List<String[]> shares = new ArrayList<>();
        for (String side : sides) {
            report.progress(name() + ": " + side);
            bench.disband();
            try (Group group = new Group(clients)) {
                group.open(side, bench.redis().uri());
                group.run(side, load, bench.pace().warmUp().multipliedBy(2));
                shares.add(group.profile(side, load, TIME).split(" ", -1));
            }
        }
        List<String> events = new ArrayList<>(List.of("sampled by"));
        shares.forEach(ofSide -> events.add(ofSide[0]));
        table.add(events);
        for (int part = 0; part < Profiler.PARTS.size(); part++) {
            List<String> row = new ArrayList<>(List.of(Profiler.PARTS.get(part)));
            for (String[] ofSide : shares) {
                row.add(String.format(Locale.ROOT, "%.1f", 100 * Double.parseDouble(ofSide[part + 1])));
            }
            table.add(row);
        }
        return table;
    }
}
