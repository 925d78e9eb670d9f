package io.github.reactivelock.benchmarks.webflux;

import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import reactor.core.publisher.Mono;

/** What is counted by each side, twice: under its lock only, and by a counter that needs none. */
public final class Tallies {

    public static final int MOST_KEYS = 100;

    private static final long SETTLING_MILLIS = 50;

    private final Map<String, Tally> bySide;

    Tallies(List<String> sides) {
        this.bySide = sides.stream().collect(Collectors.toUnmodifiableMap(Function.identity(), side -> new Tally()));
    }

    public Tally of(String side) {
        Tally tally = bySide.get(side);
        if (tally == null) {
            throw new IllegalArgumentException("nothing is counted for '" + side + "'");
        }
        return tally;
    }

    /** One side's. */
    static final class Tally {

        /** Read and then written; two that do it at once lose one of the two. */
        private final long[] counts = new long[MOST_KEYS];

        private final LongAdder times = new LongAdder();

        /** Emits the text of the answer, which is made between the reading and the writing. */
        Mono<String> countOne(String key) {
            int index = Integer.parseInt(key);
            return Mono.fromCallable(() -> {
                long read = counts[index];
                times.increment();
                String answer = "number " + (read + 1) + " of key " + key;
                counts[index] = read + 1;
                return answer;
            });
        }

        /** How often it was counted, and what came of it, once that changes no longer. */
        @Override
        public String toString() {
            for (String before = "", now = now(); ; before = now, now = now()) {
                if (now.equals(before)) {
                    return now;
                }
                pause();
            }
        }

        private String now() {
            return times.sum() + " " + LongStream.of(counts).sum();
        }

        private static void pause() {
            try {
                Thread.sleep(SETTLING_MILLIS);
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
