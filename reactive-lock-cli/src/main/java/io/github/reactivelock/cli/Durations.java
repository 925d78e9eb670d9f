package io.github.reactivelock.cli;

import java.time.Duration;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** Times as people write and read them. */
final class Durations implements ITypeConverter<Duration> {

    private static final Pattern FORM = Pattern.compile("([0-9]{1,9})(ms|s|m|h)");
    private static final long MINUTE = 60;
    private static final long HOUR = 60 * MINUTE;
    private static final long DAY = 24 * HOUR;

    /** For picocli. */
    Durations() {}

    @Override
    public Duration convert(String text) {
        Matcher form = FORM.matcher(text);
        if (form.matches()) {
            long number = Long.parseLong(form.group(1));
            Duration value = switch (form.group(2)) {
                case "ms" -> Duration.ofMillis(number);
                case "s" -> Duration.ofSeconds(number);
                case "m" -> Duration.ofMinutes(number);
                default -> Duration.ofHours(number);
            };
            if (number > 0 && value.toDays() <= 365) {
                return value;
            }
        }
        throw new TypeConversionException(
                "a time looks like 500ms, 10s, 5m or 2h, up to a year, but is '" + text + "'");
    }

    /** The two largest units; a hyphen for what is not known. */
    static String shown(@Nullable Duration time) {
        if (time == null) {
            return "-";
        }
        long seconds = Math.max(0, time.toSeconds());
        if (seconds < 1) {
            return Math.max(0, time.toMillis()) + "ms";
        }
        if (seconds < MINUTE) {
            return seconds + "s";
        }
        if (seconds < HOUR) {
            return two(seconds / MINUTE, "m", seconds % MINUTE, "s");
        }
        return seconds < DAY
                ? two(seconds / HOUR, "h", seconds % HOUR / MINUTE, "m")
                : two(seconds / DAY, "d", seconds % DAY / HOUR, "h");
    }

    private static String two(long large, String largeUnit, long small, String smallUnit) {
        return String.format(Locale.ROOT, "%d%s%02d%s", large, largeUnit, small, smallUnit);
    }

    static @Nullable Long millis(@Nullable Duration time) {
        return time == null ? null : time.toMillis();
    }
}
