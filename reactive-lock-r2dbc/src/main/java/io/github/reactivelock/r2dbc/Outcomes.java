package io.github.reactivelock.r2dbc;

import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * Recorded outcomes as the table has them. PostgreSQL takes no NUL in a text, and no text in UTF-8 has half of a pair
 * of surrogates: each is written as a mark and what follows it.
 */
final class Outcomes {

    private static final char MARK = '\u001a';
    private static final char FOR_MARK = '1';
    private static final char FOR_NUL = '0';
    /** Four hexadecimal digits follow. */
    private static final char FOR_HALF = '2';

    private static final int DIGITS = 4;

    private Outcomes() {}

    /** An empty text is a mark alone: where {@code EMPTY_STRING_IS_NULL} is set it would be none. */
    static String written(String outcome) {
        if (outcome.isEmpty()) {
            return String.valueOf(MARK);
        }
        if (outcome.indexOf(MARK) < 0
                && outcome.indexOf('\0') < 0
                && StandardCharsets.UTF_8.newEncoder().canEncode(outcome)) {
            return outcome;
        }
        StringBuilder written = new StringBuilder(outcome.length() + 16);
        for (int i = 0; i < outcome.length(); i++) {
            char c = outcome.charAt(i);
            if (c == MARK) {
                written.append(MARK).append(FOR_MARK);
            } else if (c == '\0') {
                written.append(MARK).append(FOR_NUL);
            } else if (!Character.isSurrogate(c)) {
                written.append(c);
            } else if (i + 1 < outcome.length() && Character.isSurrogatePair(c, outcome.charAt(i + 1))) {
                written.append(c).append(outcome.charAt(++i));
            } else {
                written.append(MARK).append(FOR_HALF).append(String.format("%04x", (int) c));
            }
        }
        return written.toString();
    }

    static @Nullable String read(@Nullable String written) {
        if (written == null || written.indexOf(MARK) < 0) {
            return written;
        }
        if (written.length() == 1) {
            return "";
        }
        StringBuilder read = new StringBuilder(written.length());
        for (int i = 0; i < written.length(); i++) {
            char c = written.charAt(i);
            if (c != MARK || i + 1 == written.length()) { // the second is written by nothing
                read.append(c);
                continue;
            }
            char kind = written.charAt(++i);
            if (kind == FOR_HALF && i + DIGITS < written.length()) {
                read.append((char) Integer.parseInt(written.substring(i + 1, i + 1 + DIGITS), 16));
                i += DIGITS;
            } else {
                read.append(kind == FOR_NUL ? '\0' : MARK);
            }
        }
        return read.toString();
    }
}
