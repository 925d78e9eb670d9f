package io.github.reactivelock.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** Lines of text whose columns begin below one another. */
final class Table {

    private static final String GAP = "  ";

    private final List<List<String>> rows = new ArrayList<>();

    /** Adds a row; all have as many cells. */
    void row(String... cells) {
        rows.add(List.of(cells).stream().map(Table::visible).toList());
    }

    List<String> lines() {
        List<Integer> widths = new ArrayList<>();
        for (List<String> row : rows) {
            for (int i = 0; i < row.size(); i++) {
                int width = width(row.get(i));
                if (i == widths.size()) {
                    widths.add(width);
                } else {
                    widths.set(i, Math.max(width, widths.get(i)));
                }
            }
        }
        return rows.stream().map(row -> line(row, widths)).toList();
    }

    private static String line(List<String> row, List<Integer> widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < row.size(); i++) {
            line.append(row.get(i)).append(" ".repeat(widths.get(i) - width(row.get(i))));
            line.append(i + 1 < row.size() ? GAP : "");
        }
        return line.toString().stripTrailing();
    }

    private static int width(String cell) {
        return cell.codePointCount(0, cell.length());
    }

    /** A key or an owner may be any text; what would move the cursor or steer the terminal is shown by its number. */
    static String visible(String text) {
        StringBuilder visible = new StringBuilder();
        text.codePoints().forEach(c -> {
            if (isSafe(c)) {
                visible.appendCodePoint(c);
            } else {
                visible.append(String.format(Locale.ROOT, "\\u{%x}", c));
            }
        });
        return visible.toString();
    }

    private static boolean isSafe(int character) {
        return switch (Character.getType(character)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.SURROGATE,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
