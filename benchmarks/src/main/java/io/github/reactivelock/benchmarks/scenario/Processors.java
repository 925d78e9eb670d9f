package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.report.Report;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/**
 * Which processors a process may run on, by {@code taskset} of util-linux. With one flow, server and client take turns
 * to sleep. A round trip changes by a factor of three when the kernel wakes them on another processor, from one turn to
 * the next. So the server gets a processor of its own, as on a machine of its own, and the client gets the others. The
 * client's just-in-time compilers may use all.
 */
final class Processors {

    private final List<Long> moved;
    private final List<String> all;

    private Processors(List<Long> moved, List<String> all) {
        this.moved = moved;
        this.all = all;
    }

    /**
     * Separates them until {@link #close}. With one processor, or without {@code taskset}, it changes nothing, and
     * prints a line about that.
     */
    static Processors apart(List<Long> servers, long client, Report report) {
        List<Long> moved = new ArrayList<>(servers);
        moved.add(client);
        Processors processors = new Processors(moved, allowed());
        if (processors.all.size() < 2) {
            report.progress("server and client share the only processor");
        } else if (servers.stream().allMatch(server -> processors.bind(server, processors.all.subList(0, 1)))
                && processors.bind(client, processors.all.subList(1, processors.all.size()))) {
            processors.release(client, "C[12] Compiler.*\\s*");
            report.progress(
                    "the server has processor " + processors.all.get(0) + ", the client the others, its compilers all");
        } else {
            report.progress("server and client are not kept apart: taskset is missing or refused");
        }
        return processors;
    }

    /** With its children: PostgreSQL has one for every connection. */
    private boolean bind(long process, List<String> to) {
        ProcessHandle.of(process)
                .ifPresent(parent -> parent.children().forEach(child -> {
                    bind(child.pid(), to);
                }));
        return taskset("-a", "-c", "-p", String.join(",", to), Long.toString(process));
    }

    /** Late compilation must not cost the side that has the turn. */
    private void release(long process, String threads) {
        try (Stream<Path> tasks = Files.list(Path.of("/proc", Long.toString(process), "task"))) {
            for (Path task : tasks.toList()) {
                if (Files.readString(task.resolve("comm")).matches(threads)) {
                    taskset(
                            "-c",
                            "-p",
                            String.join(",", all),
                            task.getFileName().toString());
                }
            }
        } catch (IOException ended) {
            // A compiler thread ends after a long idle time.
        }
    }

    private static boolean taskset(String... arguments) {
        try {
            List<String> command = new ArrayList<>(List.of("taskset"));
            command.addAll(List.of(arguments));
            return new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException missing) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The processors that this process may use, from a list such as {@code 0-3,6}. */
    private static List<String> allowed() {
        List<String> numbers = new ArrayList<>();
        for (String range : list().split(",", -1)) {
            String[] ends = range.strip().split("-", -1);
            for (int i = Integer.parseInt(ends[0]); i <= Integer.parseInt(ends[ends.length - 1]); i++) {
                numbers.add(Integer.toString(i));
            }
        }
        return numbers;
    }

    private static String list() {
        String name = "Cpus_allowed_list:";
        try (var lines = Files.lines(Path.of("/proc/self/status"))) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(name.length()))
                    .findFirst()
                    .orElse("0");
        } catch (IOException e) {
            throw new UncheckedIOException("the processors are not known", e);
        }
    }

    /** Lets both use all processors again. */
    void close() {
        moved.forEach(process -> {
            bind(process, all);
        });
    }
}
