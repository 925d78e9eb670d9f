package io.github.reactivelock.spring.boot;

import org.jspecify.annotations.Nullable;

/** The properties, or the beans of the application, do not say which locks are meant. Refuses the start. */
final class LockConfigurationException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    private final String action;

    /**
     * What is wrong, and what to do.
     *
     * @param problem for people, without secrets
     * @param action for people
     * @param cause why the library refused a value; null if the starter did
     */
    LockConfigurationException(String problem, String action, @Nullable Throwable cause) {
        super(problem, cause);
        this.action = action;
    }

    LockConfigurationException(String problem, String action) {
        this(problem, action, null);
    }

    String action() {
        return action;
    }
}
