package io.github.reactivelock.benchmarks.client;

import java.time.Duration;

/**
 * The load of one turn: flows that each take a lock and give it back, again and again, until the time is over.
 *
 * @param flows how many
 * @param keys the number of keys that the flows share
 * @param note what to write down besides the number of acquisitions
 */
public record Load(int flows, int keys, Note note) {

    /** The record of every acquisition. */
    public enum Note {
        /** Nothing but that it happened. */
        COUNT,
        /** How long it took from the call to the confirmed release. */
        LATENCY,
        /** When it was asked for, when it was granted and when its release was confirmed. */
        EVENTS,
        /** The longest time between two acquisitions of this process. */
        GAPS,
        /** The same, and the turn is long enough for long budgets. */
        WAITS;

        public boolean hasGaps() {
            return this == GAPS || this == WAITS;
        }

        boolean hasMoments() {
            return this == LATENCY || this == EVENTS;
        }
    }

    String key(long flow) {
        return "bench:" + flow % keys;
    }

    /** The same flows over many keys: more acquisitions in the same time, to warm up the compiler. */
    public Load wide() {
        return new Load(Math.max(flows, 64), Math.max(keys, 16), Note.COUNT);
    }

    /** The same flows and as many keys, so that every acquisition asks the store. */
    public Load distinct() {
        int many = Math.max(flows, 64);
        return new Load(many, many, Note.COUNT);
    }

    /** The share of one of several processes. */
    public Load share(int process, int processes) {
        return new Load(flows / processes + (process < flows % processes ? 1 : 0), keys, note);
    }

    /**
     * As a {@link Worker} reads it.
     *
     * @param verb what it has to do
     */
    public String request(String verb, String side, long startAt, Duration time) {
        return verb + " " + side + " " + flows + " " + keys + " " + note + " " + startAt + " " + time.toNanos();
    }
}
