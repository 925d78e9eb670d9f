package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.client.Group;
import io.github.reactivelock.benchmarks.client.Load;
import io.github.reactivelock.benchmarks.client.Outcome;
import io.github.reactivelock.benchmarks.client.Profiler;
import io.github.reactivelock.benchmarks.report.Report;
import io.github.reactivelock.benchmarks.report.Table;
import io.github.reactivelock.benchmarks.server.Server;
import io.github.reactivelock.benchmarks.server.Store;
import io.github.reactivelock.benchmarks.side.Sides;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/** Where a client's processor time goes, part by part, for the scenarios with the tightest bounds. */
public final class Profile implements Scenario {

    private static final Duration TIME = Duration.ofSeconds(3);
    private static final int CLIENTS = 4;
    private static final String SEVERAL =
            "one key, one flow in each of " + CLIENTS + " processes, in order, one of the processes";

    private final String name;
    private final List<Part> tables;

    /** One table, whose sides ask the same store. */
    private record Part(Store store, String title, List<String> sides, int clients) {}

    private Profile(String name, List<Part> tables) {
        this.name = name;
        this.tables = tables;
    }

    public static Profile redis() {
        return new Profile(
                "profile",
                List.of(
                        new Part(
                                Store.REDIS,
                                "one at a time, each in a process of its own",
                                List.of(Sides.OURS, Sides.RAW_REACTIVE_HOP, Sides.OURS_IMMEDIATE, Sides.RAW_REACTIVE),
                                1),
                        new Part(Store.REDIS, SEVERAL, List.of(Sides.OURS_FIFO, Sides.OURS_FIFO_IMMEDIATE), CLIENTS)));
    }

    /** A database whose every acquisition is a hand-over to another process, beside two statements that do nothing. */
    public static Profile sql(String product, Store store) {
        return new Profile(
                "profile-sql-" + store.name().toLowerCase(Locale.ROOT),
                List.of(new Part(
                        store, product + ", " + SEVERAL, List.of(Sides.OURS_SQL_FIFO, Sides.SQL_PING), CLIENTS)));
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public void run(Bench bench, Report report) {
        tables.forEach(part -> report.add(table(bench, report, part)));
    }

    private Table table(Bench bench, Report report, Part part) {
        List<String> columns = new ArrayList<>(List.of(name));
        columns.addAll(part.sides);
        Table table = new Table("Where a client's processor time goes, in percent: " + part.title, columns);
        Load load = new Load(part.clients, 1, Load.Note.COUNT);
        Server server = bench.server(part.store);
        List<String[]> shares = new ArrayList<>();
        List<List<String>> costs = Stream.of("all clients', µs", "the server's, µs", "by the clock, µs")
                .<List<String>>map(cost -> new ArrayList<>(List.of("an acquisition: " + cost)))
                .toList();
        for (String side : part.sides) {
            report.progress(name + ": " + side);
            bench.disband();
            try (Group group = new Group(part.clients)) {
                group.open(side, server.uri());
                group.run(side, load, bench.pace().warmUp().multipliedBy(2));
                long before = processorMicros(server);
                Outcome outcome = group.run(side, load, TIME);
                double[] micros = {outcome.cpu() / 1e3, processorMicros(server) - before, TIME.toNanos() / 1e3};
                for (int i = 0; i < micros.length; i++) {
                    costs.get(i).add(String.format(Locale.ROOT, "%.0f", micros[i] / outcome.inTime()));
                }
                shares.add(group.profile(side, load, TIME).split(" ", -1));
            }
        }
        List<String> events = new ArrayList<>(List.of("sampled by"));
        shares.forEach(ofSide -> events.add(ofSide[0]));
        table.add(events);
        for (int i = 0; i < Profiler.PARTS.size(); i++) {
            List<String> row = new ArrayList<>(List.of(Profiler.PARTS.get(i)));
            for (String[] ofSide : shares) {
                row.add(String.format(Locale.ROOT, "%.1f", 100 * Double.parseDouble(ofSide[i + 1])));
            }
            table.add(row);
        }
        costs.forEach(table::add);
        return table;
    }

    /** With its processes for connections. */
    private static long processorMicros(Server server) {
        return server.pids().stream()
                .flatMap(pid -> ProcessHandle.of(pid).stream())
                .flatMap(process -> Stream.concat(Stream.of(process), process.descendants()))
                .flatMap(process -> process.info().totalCpuDuration().stream())
                .mapToLong(time -> time.toNanos() / 1_000)
                .sum();
    }
}
