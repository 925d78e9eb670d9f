package io.github.reactivelock.r2dbc;

import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The last token that this client had of each lock. While no other client takes the lock, its row still has that token, and
 * a statement that only looks for it needs no answer but whether there was such a row. A guess that was wrong costs a round
 * trip, so where others take the lock in between it is made again only after some takes, twice as many each time. Safe for use
 * from any thread.
 */
final class LastTokens {

    private static final int MOST = 10_000;
    private static final int LONGEST_REST = 1_024;

    private final Map<String, Last> lasts = new ConcurrentHashMap<>();

    /** A token, how many takes to let pass before it is a guess, and how many after the last one that was wrong. */
    private record Last(long token, int rest, int lastRest) {}

    /** What the row of a lock most likely has now; to be called for each take. */
    OptionalLong guess(String key) {
        Last last = lasts.get(key);
        if (last == null) {
            return OptionalLong.empty();
        }
        if (last.rest > 0) {
            lasts.replace(key, last, new Last(last.token, last.rest - 1, last.lastRest));
            return OptionalLong.empty();
        }
        return OptionalLong.of(last.token);
    }

    /** To be called with each token of this client. To forget costs little, so all are forgotten when they are many. */
    void note(String key, long token) {
        if (lasts.size() >= MOST && !lasts.containsKey(key)) {
            lasts.clear();
        }
        lasts.merge(key, new Last(token, 0, 0), (last, next) -> new Last(token, last.rest, last.lastRest));
    }

    void wasRight(String key) {
        lasts.computeIfPresent(key, (k, last) -> new Last(last.token, 0, 0));
    }

    void wasWrong(String key) {
        lasts.computeIfPresent(key, (k, last) -> {
            int rest = Math.min(Math.max(1, 2 * last.lastRest), LONGEST_REST);
            return new Last(last.token, rest, rest);
        });
    }
}
