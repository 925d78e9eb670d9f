package io.github.reactivelock.testservers;

import java.io.File;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A server program as a child process, on a port of 127.0.0.1. Starts, awaits, stops, pauses and kills it. It does not
 * outlive this JVM, and neither does its {@link Scratch} directory.
 */
final class ServerProcess implements Running {

    private static final Duration START_LIMIT = Duration.ofMinutes(3);
    private static final Duration PAUSE_LIMIT = Duration.ofSeconds(60);

    private final String name;
    private final Path log;
    private final Process process;

    private ServerProcess(String name, Path log, Process process) {
        this.name = name;
        this.log = log;
        this.process = process;
    }

    /** Starts a program in a directory, where its output goes to {@code NAME.log}, and waits until its port answers. */
    static ServerProcess start(String name, Path directory, int port, List<String> command) {
        Path log = directory.resolve(name + ".log");
        Process process;
        try {
            process = new ProcessBuilder(command)
                    .directory(directory.toFile())
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(name + " could not be started: " + String.join(" ", command), e);
        }
        Scratch.destroyOnExit(process);
        ServerProcess started = new ServerProcess(name, log, process);
        started.awaitPort(port);
        return started;
    }

    /** The folders of the PATH. */
    static List<Path> path() {
        String path = Optional.ofNullable(System.getenv("PATH")).orElse("");
        return Stream.of(path.split(File.pathSeparator)).map(Path::of).toList();
    }

    /** A program of the PATH, if it is there. */
    static Optional<Path> onPath(String program) {
        return path().stream()
                .map(folder -> folder.resolve(program))
                .filter(Files::isExecutable)
                .findFirst();
    }

    @Override
    public boolean isAlive() {
        return process.isAlive();
    }

    @Override
    public void stop() {
        process.destroy();
        if (!ended(Duration.ofSeconds(10))) {
            kill();
        }
    }

    @Override
    public void kill() {
        if (process.descendants().findAny().isPresent()) {
            pause(); // or one that it makes meanwhile would live on
        }
        List<ProcessHandle> children = process.descendants().toList();
        process.destroyForcibly();
        children.forEach(ProcessHandle::destroyForcibly);
        if (!ended(Duration.ofMinutes(1))) {
            throw new IllegalStateException(name + " survived SIGKILL, process " + process.pid());
        }
        // PostgreSQL does not start again while one of them still has its memory.
        CompletableFuture.allOf(children.stream().map(ProcessHandle::onExit).toArray(CompletableFuture[]::new))
                .orTimeout(1, TimeUnit.MINUTES)
                .join();
    }

    /**
     * It and its children: PostgreSQL has one for every connection. It comes first, and its children are listed again
     * until all of them stand still, because it may have made another one until it stood still itself.
     */
    @Override
    public void pause() {
        long until = System.nanoTime() + PAUSE_LIMIT.toNanos();
        for (List<ProcessHandle> running = List.of(process.toHandle()); !running.isEmpty(); running = running()) {
            if (System.nanoTime() - until > 0) {
                resume();
                throw new IllegalStateException(name + " still runs after SIGSTOP, process " + process.pid());
            }
            signal("STOP", running);
            Pause.of(Duration.ofMillis(1));
        }
    }

    @Override
    public void resume() {
        signal("CONT", all().toList());
    }

    /** Waits for an end that something else asked for. */
    boolean ended(Duration limit) {
        try {
            return process.waitFor(limit.toMillis(), TimeUnit.MILLISECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return !process.isAlive();
        }
    }

    private void awaitPort(int port) {
        long until = System.nanoTime() + START_LIMIT.toNanos();
        while (!answers(port)) {
            if (!process.isAlive()) {
                throw new IllegalStateException(
                        name + " ended with status " + process.exitValue() + " instead of listening:\n" + logTail());
            }
            if (System.nanoTime() - until > 0) {
                kill();
                throw new IllegalStateException(
                        name + " did not listen on port " + port + " within " + START_LIMIT + ":\n" + logTail());
            }
            Pause.of(Duration.ofMillis(5));
        }
    }

    private static boolean answers(int port) {
        try (Socket socket = new Socket()) {
            socket.connect(Loopback.port(port), 1_000);
            return true;
        } catch (IOException e) {
            return false;
        }
    }

    private String logTail() {
        try {
            String all = Files.readString(log, StandardCharsets.UTF_8);
            return all.substring(Math.max(0, all.length() - 2_000));
        } catch (IOException e) {
            return "(its log cannot be read: " + e + ")";
        }
    }

    /**
     * Whether all threads of a process are stopped or have ended. That takes a moment after the signal, and until then
     * one of them may answer a client. Always true where there is no {@code /proc}.
     */
    private static boolean standsStill(ProcessHandle stopped) {
        Path threads = Path.of("/proc", Long.toString(stopped.pid()), "task");
        try (DirectoryStream<Path> each = Files.newDirectoryStream(threads)) {
            for (Path thread : each) {
                String stat = Files.readString(thread.resolve("stat"), StandardCharsets.UTF_8);
                char state = stat.charAt(stat.lastIndexOf(')') + 2); // behind the name
                if ("TZX".indexOf(state) < 0) {
                    return false;
                }
            }
            return true;
        } catch (IOException | DirectoryIteratorException e) {
            return !Files.exists(threads);
        }
    }

    private Stream<ProcessHandle> all() {
        return Stream.concat(Stream.of(process.toHandle()), process.descendants());
    }

    private List<ProcessHandle> running() {
        return all().filter(each -> !standsStill(each)).toList();
    }

    private void signal(String signal, List<ProcessHandle> to) {
        List<String> command = new ArrayList<>(List.of("kill", "-" + signal));
        to.forEach(each -> command.add(Long.toString(each.pid())));
        try {
            int status = new ProcessBuilder(command).start().waitFor();
            if (status != 0 && !process.isAlive()) { // else a child had ended since it was listed
                throw new IllegalStateException(name + " could not be sent SIG" + signal);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
