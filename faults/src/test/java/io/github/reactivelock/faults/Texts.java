package io.github.reactivelock.faults;

import java.io.PrintWriter;
import java.io.StringWriter;

/** All that an error says, its causes and traces included. */
final class Texts {

    private Texts() {}

    static String everything(Throwable error) {
        StringWriter text = new StringWriter();
        error.printStackTrace(new PrintWriter(text));
        return text.toString();
    }
}
