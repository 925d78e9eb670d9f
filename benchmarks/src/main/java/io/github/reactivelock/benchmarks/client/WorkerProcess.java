package io.github.reactivelock.benchmarks.client;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.OutputStreamWriter;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** The coordinator's end of a {@link Worker}, or of another process that answers in the same way. */
public final class WorkerProcess implements AutoCloseable {

    private final Process process;
    private final Writer requests;
    private final BufferedReader answers;

    public WorkerProcess(List<String> options) {
        this(options, Worker.class);
    }

    public WorkerProcess(List<String> options, Class<?> main, String... arguments) {
        String java = Path.of(System.getProperty("java.home"), "bin", "java").toString();
        // One collector for all sides that starts no threads of its own.
        List<String> command = new ArrayList<>(List.of(java, "-Xmx1g", "-XX:+UseSerialGC"));
        command.addAll(options);
        // For a profiler, say.
        command.addAll(Stream.of(System.getenv()
                        .getOrDefault("BENCHMARKS_JVM_OPTIONS", "")
                        .split(" "))
                .filter(option -> !option.isEmpty())
                .toList());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(List.of(arguments));
        try {
            this.process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException("a client process could not be started", e);
        }
        this.requests = new OutputStreamWriter(process.getOutputStream(), StandardCharsets.UTF_8);
        this.answers = process.inputReader(StandardCharsets.UTF_8);
    }

    public long pid() {
        return process.pid();
    }

    public void send(String request) {
        try {
            requests.write(request);
            requests.write('\n');
            requests.flush();
        } catch (IOException e) {
            throw new UncheckedIOException("a client process is gone; see its output above", e);
        }
    }

    public String answer() {
        String answer;
        try {
            answer = answers.readLine();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        if (answer == null || !answer.startsWith("ok ")) {
            throw new IllegalStateException("a client process answered: " + answer);
        }
        return answer.substring("ok ".length());
    }

    @Override
    public void close() {
        process.destroy();
    }
}
