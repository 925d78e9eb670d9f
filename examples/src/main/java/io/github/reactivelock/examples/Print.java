package io.github.reactivelock.examples;

import java.util.Locale;

/** Lines for the user, with numbers the same everywhere. */
public final class Print {

    private Print() {}

    /**
     * Prints one line.
     *
     * @param format as for {@link String#format}
     * @param values what to put in
     */
    public static void line(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
