package io.github.reactivelock.faults;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * A {@link Client}, or another program that listens to its standard input, as the process that started it sees it: told
 * what to do, heard, stopped, and killed.
 */
final class ClientProcess implements AutoCloseable {

    /** Known to the compiler's checks by its name. */
    @interface CanIgnoreReturnValue {}

    /** A client closes, and then waits for threads that are about to end, before it says what is left. */
    private static final Duration END = Duration.ofSeconds(60);
    /** A process needs five seconds of a processor to load its classes, which is a minute where thirty want two. */
    private static final Duration START = Duration.ofMinutes(5);

    private final String name;
    private final Process process;
    private final Writer commands;
    private final Thread onExit;
    private final List<String> said = new ArrayList<>();
    private boolean silent;

    private ClientProcess(String name, Process process) {
        this.name = name;
        this.process = process;
        this.commands = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        this.onExit = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(onExit);
        Thread listening = new Thread(this::listen, "output of " + name);
        listening.setDaemon(true);
        listening.start();
    }

    /** Starts a client. Its errors are printed among ours. */
    static ClientProcess start(String name, String uri, Path directory, int index) {
        return start(name, Client.class, name, uri, directory.toString(), Integer.toString(index));
    }

    /** Starts a program with this process's class path. */
    static ClientProcess start(String name, Class<?> program, String... args) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx96m",
                "-XX:+UseSerialGC",
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                program.getName()));
        command.addAll(List.of(args));
        try {
            return new ClientProcess(
                    name,
                    new ProcessBuilder(command).redirectError(Redirect.INHERIT).start());
        } catch (IOException e) {
            throw new UncheckedIOException("no process for " + name, e);
        }
    }

    String name() {
        return name;
    }

    /** Waits until a client has connected. */
    void untilReady() {
        heard("ready", START);
    }

    void say(String command) {
        try {
            commands.write(command + "\n");
            commands.flush();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " does not listen", e);
        }
    }

    /** Waits for a line that begins so, and takes it out of what was heard; returns what follows. */
    @CanIgnoreReturnValue
    String heard(String beginning, Duration limit) {
        return heardOneOf(List.of(beginning), limit)
                .substring(beginning.length())
                .strip();
    }

    /** Whether it has said a line that begins so, which is taken out of what was heard. */
    boolean hasSaid(String beginning) {
        synchronized (said) {
            return said.stream()
                    .filter(line -> line.startsWith(beginning))
                    .findFirst()
                    .map(said::remove)
                    .orElse(false);
        }
    }

    /** Waits for a line that begins in one of these ways, and takes it out of what was heard; returns all of it. */
    String heardOneOf(List<String> beginnings, Duration limit) {
        long deadline = System.nanoTime() + limit.toNanos();
        synchronized (said) {
            while (true) {
                for (String line : said) {
                    if (beginnings.stream().anyMatch(line::startsWith)) {
                        said.remove(line);
                        return line;
                    }
                }
                long left = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
                if (silent || left <= 0) {
                    throw new AssertionError(name + " did not say " + beginnings + " within " + limit + ", "
                            + (silent ? "it has ended" : "with " + worked() + " of processor time") + "; it said "
                            + said);
                }
                try {
                    said.wait(left);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new IllegalStateException(e);
                }
            }
        }
    }

    /** SIGKILL. */
    void kill() {
        process.destroyForcibly();
        ended();
    }

    /** SIGSTOP. */
    void pause() {
        signal("STOP");
    }

    /** SIGCONT. */
    void resume() {
        signal("CONT");
    }

    /** Tells it to end, and kills it if it does not. */
    @Override
    public void close() {
        try {
            commands.close();
        } catch (IOException e) {
            // It has ended.
        }
        ended();
    }

    private void ended() {
        try {
            if (!process.waitFor(END.toSeconds(), TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        Runtime.getRuntime().removeShutdownHook(onExit);
    }

    /** Tells a process that is stuck from one that gets no turn. */
    private Duration worked() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO);
    }

    private void signal(String signal) {
        try {
            int exit = new ProcessBuilder("kill", "-" + signal, Long.toString(process.pid()))
                    .inheritIO()
                    .start()
                    .waitFor();
            if (exit != 0) {
                throw new IllegalStateException("kill -" + signal + " of " + name + " failed");
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void listen() {
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            for (String line = out.readLine(); line != null; line = out.readLine()) {
                hear(line);
            }
        } catch (IOException e) {
            // It was killed.
        }
        synchronized (said) {
            silent = true;
            said.notifyAll();
        }
    }

    private void hear(String line) {
        synchronized (said) {
            said.add(line);
            said.notifyAll();
        }
    }
}
