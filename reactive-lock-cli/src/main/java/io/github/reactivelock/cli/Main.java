package io.github.reactivelock.cli;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.util.List;
import java.util.logging.Level;
import java.util.logging.Logger;

/** The program {@code reactive-lock}. */
public final class Main {

    /** What drivers log through the JDK's own logging; kept in a field, or the JDK would forget its level. */
    private static final Logger JDK = Logger.getLogger("");

    private Main() {}

    /**
     * Runs one command and ends the process with its exit code.
     *
     * @param arguments as {@code --help} tells
     */
    public static void main(String... arguments) {
        // Before the first logger is made, which is before picocli has read the options.
        boolean isVerbose =
                List.of(arguments).contains("-v") || List.of(arguments).contains("--verbose");
        System.setProperty("org.slf4j.simpleLogger.defaultLogLevel", isVerbose ? "info" : "off");
        JDK.setLevel(isVerbose ? Level.INFO : Level.OFF);
        System.exit(ReactiveLock.in(Environment.real())
                .setOut(new PrintWriter(System.out, true, encoding()))
                .execute(arguments));
    }

    /** That of the terminal; what is written to a file or a pipe has the default. */
    private static Charset encoding() {
        String known = System.getProperty("stdout.encoding", System.getProperty("sun.stdout.encoding", ""));
        return Charset.isSupported(known.isEmpty() ? "none" : known)
                ? Charset.forName(known)
                : Charset.defaultCharset();
    }
}
