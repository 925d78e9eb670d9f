package io.github.reactivelock.benchmarks.report;

import io.github.reactivelock.benchmarks.client.Outcome;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.OptionalDouble;

/** All results: tables for people as they come, figures for machines at the end. */
public final class Report {

    private final long since = System.nanoTime();
    private final PrintStream out;
    private final List<String> missing = new ArrayList<>();
    private final List<Table> tables = new ArrayList<>();
    private final List<Figure> figures = new ArrayList<>();
    private final Map<String, Map<String, long[]>> latencies = new LinkedHashMap<>();

    public Report(PrintStream out) {
        this.out = out;
    }

    List<Table> tables() {
        return tables;
    }

    List<Figure> figures() {
        return figures;
    }

    /** Sorted times of acquire + release of each side's last turn, by scenario and side. */
    public Map<String, Map<String, long[]>> latencies() {
        return latencies;
    }

    OptionalDouble value(String name) {
        return figures.stream()
                .filter(figure -> figure.name().equals(name))
                .mapToDouble(Figure::value)
                .findFirst();
    }

    /** Prints progress; not part of the report. */
    public void progress(String line) {
        long seconds = (System.nanoTime() - since) / 1_000_000_000;
        System.err.printf("[%3d s] %s%n", seconds, line);
    }

    public void missing(String scenario, RuntimeException cause) {
        missing.add(scenario + ": " + cause.getMessage());
        progress(scenario + " failed: " + cause);
    }

    /** The scenarios that failed, and why. */
    public List<String> missing() {
        return missing;
    }

    public void add(Table table) {
        tables.add(table);
        out.println(table.title());
        out.println(table.text());
    }

    public void add(Figure figure) {
        figures.add(figure);
    }

    public void latencies(String scenario, String side, Outcome outcome) {
        if (outcome.moments().length > 0) {
            latencies
                    .computeIfAbsent(scenario, name -> new LinkedHashMap<>())
                    .put(side, Round.cycles(outcome.moments()));
        }
    }

    public void printFigures() {
        figures.forEach(out::println);
    }
}
