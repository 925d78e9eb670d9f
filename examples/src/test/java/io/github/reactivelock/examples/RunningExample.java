package io.github.reactivelock.examples;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What an example printed and how it ended, run as a process of its own as a user would. */
public record RunningExample(int exit, List<String> output) {

    public static RunningExample run(Class<?> main, String... args) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                main.getName()));
        command.addAll(List.of(args));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new RunningExample(process.waitFor(), output.lines().toList());
    }

    public String text() {
        return String.join("\n", output);
    }
}
