package io.github.reactivelock.examples.webflux;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** The browser's accessibility tree, which is what screen readers read, as lines. */
final class AccessibilityTree {

    private AccessibilityTree() {}

    /** "role: name" of each node that is not ignored, in the page's order. */
    static List<String> of(Map<String, Object> answer) {
        List<String> lines = new ArrayList<>();
        for (Object node : (List<?>) answer.get("nodes")) {
            Map<?, ?> one = (Map<?, ?>) node;
            if (Boolean.FALSE.equals(one.get("ignored"))) {
                lines.add(value(one, "role") + ": " + value(one, "name"));
            }
        }
        return lines;
    }

    private static String value(Map<?, ?> node, String what) {
        Object found = node.get(what) instanceof Map<?, ?> value ? value.get("value") : null;
        return found == null ? "" : found.toString();
    }
}
