package io.github.reactivelock.benchmarks;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** What the figures were taken on. */
record Machine(String redis) {

    String text() {
        return "- " + processors() + "\n- " + System.getProperty("os.name") + " " + System.getProperty("os.version")
                + "\n- Java " + System.getProperty("java.vm.version")
                + "\n- Redis " + redis + "\n";
    }

    private static String processors() {
        int count = Runtime.getRuntime().availableProcessors();
        try (var lines = Files.lines(Path.of("/proc/cpuinfo"))) {
            return count + " × "
                    + lines.filter(line -> line.startsWith("model name"))
                            .map(line -> line.substring(line.indexOf(':') + 1).strip())
                            .findFirst()
                            .orElse(System.getProperty("os.arch"));
        } catch (IOException e) {
            return count + " × " + System.getProperty("os.arch");
        }
    }
}
