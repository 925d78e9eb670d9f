package io.github.reactivelock.cli;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** An object of JSON. It is written in ASCII, for terminals of any encoding. */
final class Json {

    private final Map<String, @Nullable Object> members = new LinkedHashMap<>();

    /** Adds a text, a number, a boolean, another object, a list of those, or null. */
    Json with(String name, @Nullable Object value) {
        members.put(name, value);
        return this;
    }

    @Override
    public String toString() {
        return members.entrySet().stream()
                .map(member -> quoted(member.getKey()) + ":" + written(member.getValue()))
                .collect(Collectors.joining(",", "{", "}"));
    }

    private static String written(@Nullable Object value) {
        if (value instanceof String text) {
            return quoted(text);
        }
        return value instanceof List<?> list
                ? list.stream().map(Json::written).collect(Collectors.joining(",", "[", "]"))
                : String.valueOf(value);
    }

    private static String quoted(String text) {
        StringBuilder quoted = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                quoted.append('\\').append(c);
            } else if (c < ' ' || c > '~') {
                quoted.append(String.format(Locale.ROOT, "\\u%04x", (int) c));
            } else {
                quoted.append(c);
            }
        }
        return quoted.append('"').toString();
    }
}
