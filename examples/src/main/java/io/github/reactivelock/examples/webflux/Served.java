package io.github.reactivelock.examples.webflux;

import io.github.reactivelock.examples.webflux.shop.Happening;
import org.jspecify.annotations.Nullable;

/**
 * An order that has, or had, the lock of its item. Times are in microseconds of the machine's clock.
 *
 * @param order its number
 * @param till where it was placed
 * @param token the fencing token of its hold
 * @param askedAt when it began to wait
 * @param startedAt when it got the lock
 * @param endedAt when it gave the lock back or lost it; 0 while it has it, and if its till was killed
 * @param outcome how it ended; empty while it has the lock
 * @param before the till that it took over from; null if the lock was free when it came
 * @param handOverMillis from the end of the hold before to the start of this one; null if the lock was free
 */
record Served(
        int order,
        String till,
        String token,
        long askedAt,
        long startedAt,
        long endedAt,
        String outcome,
        @Nullable String before,
        @Nullable Double handOverMillis) {

    static Served of(String till, Happening news, long askedAt) {
        return new Served(news.order(), till, news.token(), askedAt, news.at(), 0, "", null, null);
    }

    Served ended(long at, String how) {
        return new Served(order, till, token, askedAt, startedAt, at, how, before, handOverMillis);
    }

    Served after(Served earlier) {
        boolean tookOver = earlier.endedAt > askedAt;
        return new Served(
                order,
                till,
                token,
                askedAt,
                startedAt,
                endedAt,
                outcome,
                tookOver ? earlier.till : null,
                tookOver ? (startedAt - earlier.endedAt) / 1e3 : null);
    }

    long tokenNumber() {
        return Long.parseLong(token);
    }
}
