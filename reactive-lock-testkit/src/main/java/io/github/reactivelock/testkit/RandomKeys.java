package io.github.reactivelock.testkit;

import java.nio.charset.StandardCharsets;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.function.BinaryOperator;

/**
 * Random keys, made of characters that stores are known to stumble over, each beside others that differ from it in one
 * place only. The seed is part of {@link #toString()}; the system property {@code reactivelock.fuzz.seed} repeats it.
 */
final class RandomKeys {

    private static final int MOST_BYTES = 460;
    private static final String[] PIECES = {
        "a",
        "A",
        "b",
        "0",
        "1",
        " ",
        "  ",
        "{",
        "}",
        "%",
        "%7B",
        "%25",
        "/",
        "//",
        ".",
        "..",
        ":",
        ":token",
        "*",
        "?",
        "[",
        "]",
        "\\",
        "'",
        "\"",
        ";",
        "--",
        "$",
        "#",
        "&",
        "=",
        "+",
        ",",
        "~",
        "\0",
        "\n",
        "\r",
        "\t",
        "\u001b",
        "\u007f",
        "\u0085",
        "\u00a0",
        "\u00df",
        "\u00e9",
        "e\u0301",
        "\u0130",
        "\u0131",
        "\u200b",
        "\u200d",
        "\u202e",
        "\ufeff",
        "\uffff",
        "\u65e5\u672c",
        "\ud83d\ude00",
        "\ud83d\udd12",
        "reactivelock"
    };

    private final long seed = Long.getLong("reactivelock.fuzz.seed", System.nanoTime());
    private final Random random = new Random(seed);

    /** The given number of different keys; the function makes each of a random beginning and a random end. */
    List<String> make(int count, BinaryOperator<String> key) {
        Set<List<String>> around = new LinkedHashSet<>();
        while (around.size() < count) {
            String before = text();
            String after = text();
            add(around, before, after);
            add(around, before, after + piece());
            add(around, before + piece(), after);
            add(around, after, before);
            add(around, before.toUpperCase(java.util.Locale.ROOT), after);
        }
        return around.stream()
                .limit(count)
                .map(parts -> key.apply(parts.get(0), parts.get(1)))
                .toList();
    }

    private static void add(Set<List<String>> around, String before, String after) {
        if ((before + after).getBytes(StandardCharsets.UTF_8).length <= MOST_BYTES) {
            around.add(List.of(before, after));
        }
    }

    private String text() {
        StringBuilder text = new StringBuilder();
        int pieces = random.nextInt(random.nextInt(10) == 0 ? 120 : 6);
        for (int i = 0; i < pieces; i++) {
            text.append(piece());
        }
        return text.toString();
    }

    private String piece() {
        return PIECES[random.nextInt(PIECES.length)];
    }

    @Override
    public String toString() {
        return "keys of -Dreactivelock.fuzz.seed=" + seed;
    }
}
