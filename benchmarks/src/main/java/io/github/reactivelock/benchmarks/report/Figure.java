package io.github.reactivelock.benchmarks.report;

import java.util.Locale;

/**
 * One number of the report, in a form for machines.
 *
 * @param kind {@code ratio}, {@code commands}, {@code publishes}, {@code subscribes}, {@code micros}, {@code millis} or
 *     {@code bytes}
 * @param scenario what was run
 * @param peer the other side of a ratio; empty for the other kinds
 * @param value of a ratio: how many times as good ours is as the peer
 */
public record Figure(String kind, String scenario, String peer, double value) {

    public static Figure ratio(String scenario, String peer, double value) {
        return new Figure("ratio", scenario, peer, value);
    }

    public static Figure of(String kind, String scenario, double value) {
        return new Figure(kind, scenario, "", value);
    }

    public String name() {
        return kind + " " + scenario + (peer.isEmpty() ? "" : " " + peer);
    }

    @Override
    public String toString() {
        return name() + " " + shown();
    }

    String shown() {
        return String.format(Locale.ROOT, value >= 100 ? "%.0f" : "%.3f", value);
    }
}
