package io.github.reactivelock.cli;

import java.io.BufferedReader;
import java.io.Console;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.Charset;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the program is given beside its arguments.
 *
 * @param environment its variables
 * @param prompt asks for the password
 * @param onInterrupt takes what is to be done on Ctrl-C
 */
record Environment(Map<String, String> environment, Supplier<String> prompt, Consumer<Runnable> onInterrupt) {

    static final String STORE = "REACTIVE_LOCK_STORE";
    static final String PASSWORD = "REACTIVE_LOCK_PASSWORD";

    /** Those of a process. */
    static Environment real() {
        return new Environment(
                System.getenv(),
                Environment::askedFor,
                task -> Runtime.getRuntime().addShutdownHook(new Thread(task, "reactive-lock-interrupted")));
    }

    /** A variable that is empty counts as none. */
    @Nullable
    String variable(String name) {
        String value = environment.get(name);
        return value == null || value.isEmpty() ? null : value;
    }

    /** From the terminal, where it is not shown, or the first line of what is piped in. */
    @SuppressWarnings("SystemConsoleNull") // from Java 22 on there always is one, which reads what is piped in as well
    private static String askedFor() {
        Console terminal = System.console();
        if (terminal != null) {
            char[] typed = terminal.readPassword("password: ");
            return typed == null ? "" : new String(typed);
        }
        try {
            String line = new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())).readLine();
            return line == null ? "" : line;
        } catch (IOException e) {
            throw new UncheckedIOException("the password could not be read from the input", e);
        }
    }
}
