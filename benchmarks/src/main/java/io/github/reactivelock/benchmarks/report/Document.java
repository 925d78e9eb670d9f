package io.github.reactivelock.benchmarks.report;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** The report as a document with plots. */
public final class Document {

    private Document() {}

    public static void write(Report report, Machine machine, Path directory) {
        try {
            Files.createDirectories(directory);
            StringBuilder text = new StringBuilder(introduction());
            text.append("\n## Where\n\n").append(machine.text());
            section(text, Target.table(report));
            if (!report.missing().isEmpty()) {
                text.append("\nNot measured:\n\n");
                report.missing().forEach(line -> text.append("- ").append(line).append('\n'));
            }
            for (String plot : plots(report, directory)) {
                text.append("\n![").append(plot).append("](").append(plot).append(")\n");
            }
            report.tables().forEach(table -> section(text, table));
            text.append("\n## Figures\n\n```\n");
            report.figures().forEach(figure -> text.append(figure).append('\n'));
            text.append("```\n");
            Files.writeString(directory.resolve("performance.md"), text);
        } catch (IOException e) {
            throw new UncheckedIOException("the report could not be written", e);
        }
    }

    private static void section(StringBuilder text, Table table) {
        text.append("\n## ").append(table.title()).append("\n\n").append(table.text());
    }

    /** A server may have no fonts; the tables say the same. */
    private static List<String> plots(Report report, Path directory) throws IOException {
        try {
            return Plots.write(report, directory);
        } catch (LinkageError | RuntimeException e) {
            System.err.println("no plots: " + e);
            return new ArrayList<>();
        }
    }

    private static String introduction() throws IOException {
        try (InputStream in = Document.class.getResourceAsStream("performance.md")) {
            if (in == null) {
                throw new IOException("performance.md is missing from the jar");
            }
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
