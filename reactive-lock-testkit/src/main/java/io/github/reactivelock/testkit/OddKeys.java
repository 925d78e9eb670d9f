package io.github.reactivelock.testkit;

import java.util.List;
import java.util.function.BinaryOperator;

/** Keys that code on the way to a store may mistake for more than data. No two of them may share a name. */
public final class OddKeys {

    private static final int LONGEST = 512;

    private OddKeys() {}

    /**
     * Keys that differ only by what is before and behind their common part.
     *
     * @param around makes a key of what comes before and behind the common part
     * @return at most 512 bytes of UTF-8 each
     */
    public static List<String> make(BinaryOperator<String> around) {
        String common = around.apply("", "");
        int rest = LONGEST - common.length();
        return List.of(
                common,
                around.apply("", "A"),
                around.apply("", "a"),
                around.apply("", " "),
                around.apply(" ", ""),
                around.apply("", "  "),
                around.apply("", "\n"),
                around.apply("", "\t"),
                around.apply("", "\u0000"),
                around.apply("\u0000", ""),
                around.apply("", "\u00e9"),
                around.apply("", "e\u0301"),
                around.apply("", "\ud83d\udd12"),
                around.apply("{", "}"),
                around.apply("{", ""),
                around.apply("}", ""),
                around.apply("{}", ""),
                around.apply("}{", ""),
                around.apply("", "}"),
                around.apply("x{", "}y"),
                around.apply("{", "}{}"),
                around.apply("%7B", "%7D"),
                around.apply("", "%"),
                around.apply("../", ""),
                around.apply("..", ""),
                around.apply("/", ""),
                around.apply("a/b/", "/"),
                around.apply("a:", ":q"),
                around.apply("*", "?"),
                around.apply("[a]", "\\"),
                around.apply("'; DROP TABLE locks; --", "\""),
                around.apply("", "x".repeat(rest)),
                around.apply("", "x".repeat(rest - 1)));
    }
}
