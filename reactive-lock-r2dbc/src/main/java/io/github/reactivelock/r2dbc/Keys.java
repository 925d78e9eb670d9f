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

    /** Whether a key that no engine has checked fits the tables, with a UTF-8 form that no other key has. */
    static boolean isName(String key) {
        return !key.isBlank() && StandardCharsets.UTF_8.newEncoder().canEncode(key) && bytes(key).length <= 512;
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
