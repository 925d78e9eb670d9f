package io.github.reactivelock.benchmarks;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** The report as a document with plots. */
final class Document {

    private Document() {}

    static void write(Report report, Machine machine, Path directory) {
        StringBuilder text = new StringBuilder();
        text.append("# Performance\n\n").append(machine.text());
        report.tables()
                .forEach(table -> text.append("\n## ")
                        .append(table.title())
                        .append("\n\n")
                        .append(table.text()));
        try {
            Path unused = Files.writeString(directory.resolve("performance.md"), text);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
