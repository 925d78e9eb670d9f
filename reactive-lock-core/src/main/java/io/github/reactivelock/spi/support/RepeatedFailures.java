package io.github.reactivelock.spi.support;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;

/**
 * Failures of a user's code that is called again and again, such as a listener: the first of a kind is logged with its
 * stack, and those that follow in one line each time that their number has doubled. May be used by any thread.
 */
public final class RepeatedFailures {

    /** A kind is a class and a place; a program has few, unless it makes classes. */
    private static final int MOST_KINDS = 100;

    private final Logger log;
    private final String what;
    private final Map<String, Long> times = new ConcurrentHashMap<>();

    /**
     * None yet.
     *
     * @param log where they are logged, as warnings
     * @param what what happened, without a full stop
     */
    public RepeatedFailures(Logger log, String what) {
        this.log = log;
        this.what = what;
    }

    /**
     * Logs a failure, or counts it.
     *
     * @param failure what was thrown
     */
    public void add(Throwable failure) {
        String kind = kind(failure);
        boolean isKnown = times.size() < MOST_KINDS || times.containsKey(kind);
        long count = times.merge(isKnown ? kind : "", 1L, Long::sum);
        if (count == 1) {
            log.warn(what, failure);
        } else if (Long.bitCount(count) == 1) {
            log.warn("{}, {} times so far: {}", what, count, kind); // what it says is user code too, and may throw
        }
    }

    private static String kind(Throwable failure) {
        StackTraceElement[] stack = failure.getStackTrace();
        return failure.getClass().getName() + (stack.length == 0 ? "" : " " + stack[0]);
    }
}
