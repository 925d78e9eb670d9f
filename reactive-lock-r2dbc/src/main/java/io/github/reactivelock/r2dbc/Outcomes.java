package io.github.reactivelock.r2dbc;

import org.jspecify.annotations.Nullable;

/** Recorded outcomes as the table has them: PostgreSQL takes no NUL in a text, so that one is written as two characters. */
final class Outcomes {

    private static final String MARK = "\u001a";
    private static final String NUL = "\0";

    private Outcomes() {}

    static String written(String outcome) {
        return outcome.replace(MARK, MARK + "1").replace(NUL, MARK + "0");
    }

    static @Nullable String read(@Nullable String written) {
        return written == null ? null : written.replace(MARK + "0", NUL).replace(MARK + "1", MARK);
    }
}
