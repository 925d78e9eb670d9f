package io.github.reactivelock.benchmarks;

import java.time.Duration;

/**
 * What goes on in one turn: so many flows, each of which takes a lock and gives it back, again and again, until the time
 * is over.
 *
 * @param flows how many
 * @param keys over how many keys they are spread
 * @param note what to write down besides the number of acquisitions
 */
record Load(int flows, int keys, Note note) {

    /** What is written down of every acquisition. */
    enum Note {
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

        boolean hasGaps() {
            return this == GAPS || this == WAITS;
        }

        boolean hasMoments() {
            return this == LATENCY || this == EVENTS;
        }
    }

    String key(long flow) {
        return "bench:" + flow % keys;
    }

    /** The same flows over many keys: more acquisitions in the same time, for the compiler to see. */
    Load wide() {
        return new Load(Math.max(flows, 64), Math.max(keys, 16), Note.COUNT);
    }

    /** The same flows and as many keys, so that every acquisition asks the store. */
    Load distinct() {
        int many = Math.max(flows, 64);
        return new Load(many, many, Note.COUNT);
    }

    /** What is left for one of several processes when the flows are spread over all of them. */
    Load share(int process, int processes) {
        return new Load(flows / processes + (process < flows % processes ? 1 : 0), keys, note);
    }

    /** @param verb what a {@link Worker} is to do with it */
    String request(String verb, String side, long startAt, Duration time) {
        return verb + " " + side + " " + flows + " " + keys + " " + note + " " + startAt + " " + time.toNanos();
    }
}
