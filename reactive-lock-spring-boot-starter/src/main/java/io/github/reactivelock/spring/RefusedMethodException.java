package io.github.reactivelock.spring;

import org.springframework.util.StringUtils;

/** An annotated method that cannot be locked. Refuses the start. */
final class RefusedMethodException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private final String problem;
    private final String action;

    /**
     * What is wrong, and what to do.
     *
     * @param where begins the sentence
     * @param why its end, and behind a semicolon what to do
     */
    RefusedMethodException(String where, String why, Exception cause) {
        super(where + why, cause);
        int end = why.indexOf("; ");
        this.problem = where + (end < 0 ? why : why.substring(0, end));
        this.action =
                end < 0 ? "Change the method or its annotation." : StringUtils.capitalize(why.substring(end + 2)) + ".";
    }

    String problem() {
        return problem;
    }

    String action() {
        return action;
    }
}
