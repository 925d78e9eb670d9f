package io.github.reactivelock.benchmarks.report;

import java.util.ArrayList;
import java.util.List;

/** Rows under a heading, printed the same way on the terminal and in the document. */
public final class Table {

    private final String title;
    private final List<List<String>> rows = new ArrayList<>();

    public Table(String title, List<String> columns) {
        this.title = title;
        rows.add(columns);
    }

    public String title() {
        return title;
    }

    public boolean isEmpty() {
        return rows.size() == 1;
    }

    public void add(List<String> row) {
        rows.add(row);
    }

    String text() {
        StringBuilder text = new StringBuilder();
        for (List<String> row : rows) {
            text.append("| ");
            for (int i = 0; i < row.size(); i++) {
                text.append(i > 0 ? space(row.get(i), i) + row.get(i) : row.get(i) + space(row.get(i), i))
                        .append(" | ");
            }
            text.setLength(text.length() - 1);
            text.append('\n');
            if (row == rows.get(0)) {
                text.append(line());
            }
        }
        return text.toString();
    }

    private String line() {
        StringBuilder line = new StringBuilder("|");
        for (int i = 0; i < rows.get(0).size(); i++) {
            line.append("-".repeat(width(i) + 1)).append(i > 0 ? ":|" : "-|");
        }
        return line.append('\n').toString();
    }

    private int width(int column) {
        return rows.stream().mapToInt(row -> row.get(column).length()).max().orElse(0);
    }

    /** What the cell lacks to be as wide as its column. */
    private String space(String cell, int column) {
        return " ".repeat(width(column) - cell.length());
    }
}
