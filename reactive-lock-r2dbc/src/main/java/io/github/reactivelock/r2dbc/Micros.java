package io.github.reactivelock.r2dbc;

import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.TimeUnit;

/** Times as the tables have them: microseconds. */
final class Micros {

    private Micros() {}

    static long of(Duration time) {
        return TimeUnit.NANOSECONDS.toMicros(time.toNanos());
    }

    /** Not less than zero. */
    static Duration toDuration(long micros) {
        return Duration.of(Math.max(0, micros), ChronoUnit.MICROS);
    }
}
