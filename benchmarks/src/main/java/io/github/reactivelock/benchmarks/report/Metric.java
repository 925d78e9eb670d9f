package io.github.reactivelock.benchmarks.report;

import java.util.Locale;

/** The metrics of a turn, in the order of the tables. */
public enum Metric {
    PER_SECOND("a second", "%,.0f"),
    CYCLE_MEDIAN("acquire + release, median µs", "%,.1f"),
    CYCLE_TAIL("p99 / p50", "%.1f"),
    CHANGES("hand-overs to another process a second", "%,.0f"),
    LONGEST_ACQUIRE("longest wait of a flow, ms", "%,.1f"),
    HAND_OVER("hand-over, median µs", "%,.1f"),
    HAND_OVER_TRIPS("in round trips", "%.2f"),
    HAND_OVER_BUSY_TRIPS("of busy clients", "%.2f"),
    LONGEST_WAIT("longest wait of a client, ms", "%,.1f"),
    CLIENT_CPU("client CPU, µs each", "%.1f"),
    SERVER_CPU("server CPU, µs each", "%.1f"),
    SCRIPTS("in scripts", "%.1f"),
    COMMANDS("commands each", "%.3f"),
    PUBLISHED("PUBLISH each", "%.3f"),
    SUBSCRIBED("(UN)SUBSCRIBE each", "%.3f");

    private final String title;
    private final String format;

    Metric(String title, String format) {
        this.title = title;
        this.format = format;
    }

    public String title() {
        return title;
    }

    public String show(double value) {
        return String.format(Locale.ROOT, format, value);
    }

    /** How many times as good the first value is as the second. */
    public double ratio(double ours, double theirs) {
        return this == PER_SECOND || this == CHANGES ? ours / theirs : theirs / ours;
    }
}
