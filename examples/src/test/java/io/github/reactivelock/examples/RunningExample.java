package io.github.reactivelock.examples;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** What an example printed and how it ended, run as a process of its own as a user would. */
public record RunningExample(int exit, List<String> output) {

    public static RunningExample run(Class<?> main, String... args) throws IOException, InterruptedException {
        return end(command(main, args).start());
    }

    /** Where no program is found by its name alone. */
    public static RunningExample runWithoutPath(Class<?> main, String... args)
            throws IOException, InterruptedException {
        ProcessBuilder command = command(main, args);
        command.environment().put("PATH", "");
        return end(command.start());
    }

    /** A process that was not started yet, its errors among its output. */
    public static ProcessBuilder command(Class<?> main, String... args) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                withoutTests(System.getProperty("java.class.path")),
                main.getName()));
        command.addAll(List.of(args));
        return new ProcessBuilder(command).redirectErrorStream(true);
    }

    /** Tests write their log in another way, and more of it. */
    private static String withoutTests(String classPath) {
        return Arrays.stream(classPath.split(File.pathSeparator))
                .filter(entry -> !Path.of(entry).endsWith("test-classes"))
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static RunningExample end(Process process) throws IOException, InterruptedException {
        String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new RunningExample(process.waitFor(), output.lines().toList());
    }

    public String text() {
        return String.join("\n", output);
    }
}
