package io.github.reactivelock.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import picocli.CommandLine;

/** One run of the program in this JVM, on a thread of its own. */
final class Program {

    /** Far more than a run takes, even on a busy machine. */
    static final Duration LIMIT = Duration.ofSeconds(90);

    /** Classes and methods of Java, which a user of the program does not know. */
    private static final Pattern JAVA =
            Pattern.compile("\\b[A-Z][A-Za-z]*\\.[a-z][A-Za-z]+|\\b(?:[a-z]\\w*\\.)+[A-Z]\\w*"
                    + "|\\b\\w+(?:Exception|Error|LockBackend|BackendOptions|ClientBuilder)\\b|\\b[a-z]+[A-Z]\\w*\\(");

    /** How a run ended, and what it printed. */
    record Ended(int code, String out, String err) {
        List<String> lines() {
            return out.lines().toList();
        }
    }

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();
    private final CompletableFuture<Runnable> interrupt = new CompletableFuture<>();
    private final CompletableFuture<Integer> code = new CompletableFuture<>();
    private final boolean verbose;

    private Program(Map<String, String> environment, String typed, List<String> arguments) {
        verbose = arguments.contains("-v") || arguments.contains("--verbose");
        CommandLine program = ReactiveLock.in(new Environment(environment, () -> typed, interrupt::complete))
                .setOut(new PrintWriter(out, true))
                .setErr(new PrintWriter(err, true));
        Thread thread = new Thread(
                () -> code.complete(program.execute(arguments.toArray(String[]::new))), "reactive-lock " + arguments);
        thread.setDaemon(true);
        thread.start();
    }

    static Program start(String... arguments) {
        return new Program(Map.of(), "", patiently(arguments));
    }

    static Ended run(String... arguments) {
        return start(arguments).end();
    }

    static Ended run(Map<String, String> environment, String typed, String... arguments) {
        return new Program(environment, typed, patiently(arguments)).end();
    }

    /** A busy machine is no silent store. */
    private static List<String> patiently(String... arguments) {
        return Arrays.asList(arguments).contains("--timeout")
                ? List.of(arguments)
                : Stream.concat(Stream.of("--timeout", "60s"), Stream.of(arguments))
                        .toList();
    }

    Ended end() {
        int ended = code.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join();
        if (!verbose && JAVA.matcher(err.toString()).find()) {
            throw new AssertionError("a name of Java in: " + err);
        }
        return new Ended(ended, out.toString(), err.toString());
    }

    /** As Ctrl-C does; returns when the program would be over. */
    Ended interrupt() {
        interrupt.orTimeout(LIMIT.toSeconds(), TimeUnit.SECONDS).join().run();
        return end();
    }

    /** Waits for a line; fails with all that was printed when the program ends without it. */
    void awaitLine(Predicate<String> line) throws InterruptedException {
        awaitLineOrEnd(line);
        if (out.toString().lines().noneMatch(line)) {
            throw new AssertionError("no such line in: " + out + err);
        }
    }

    void awaitLineOrEnd(Predicate<String> line) throws InterruptedException {
        long deadline = System.nanoTime() + LIMIT.toNanos();
        while (out.toString().lines().noneMatch(line) && !code.isDone() && System.nanoTime() - deadline < 0) {
            TimeUnit.MILLISECONDS.sleep(5);
        }
    }
}
