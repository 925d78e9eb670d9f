package io.github.reactivelock.examples.flashsale;

import java.util.Locale;

/** Lines for the user, with numbers the same everywhere. */
final class Print {

    private Print() {}

    static void line(String format, Object... values) {
        System.out.println(String.format(Locale.ROOT, format, values));
    }
}
