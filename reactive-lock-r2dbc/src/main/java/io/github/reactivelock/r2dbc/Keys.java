package io.github.reactivelock.r2dbc;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Keys and times as the tables have them. A key is binary, so that none is equal to another by collation. */
final class Keys {

    private Keys() {}

    static byte[] bytes(String key) {
        return key.getBytes(StandardCharsets.UTF_8);
    }

    static String key(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    static long micros(Duration time) {
        return TimeUnit.NANOSECONDS.toMicros(time.toNanos());
    }

    static Duration time(long micros) {
        return Duration.of(Math.max(0, micros), java.time.temporal.ChronoUnit.MICROS);
    }
}
