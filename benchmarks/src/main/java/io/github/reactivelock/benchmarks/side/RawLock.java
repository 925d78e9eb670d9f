package io.github.reactivelock.benchmarks.side;

import java.util.List;

/**
 * The commands of the smallest possible lock in Redis: no queue, no renewal, no cancellation.
 *
 * @param acquire a script, or nothing for the command {@code SET}
 * @param release compares and deletes
 */
record RawLock(String acquire, String release) {

    static final long LEASE_MILLIS = 30_000;

    private static final String COMPARE_AND_DELETE =
            "if redis.call('GET', KEYS[1]) == ARGV[1] then return redis.call('DEL', KEYS[1]) end return 0";

    static final RawLock SET = new RawLock("", COMPARE_AND_DELETE);

    /** With a counter for a fencing token, as ours and Redisson's fenced lock have it. */
    static final RawLock FENCED = new RawLock(
            "if redis.call('SET', KEYS[1], ARGV[1], 'NX', 'PX', ARGV[2]) then"
                    + " return redis.call('INCR', KEYS[2]) end return 0",
            COMPARE_AND_DELETE);

    boolean isScript() {
        return !acquire.isEmpty();
    }

    static String[] keys(String key) {
        return List.of("{" + key + "}", "{" + key + "}:token").toArray(String[]::new);
    }
}
