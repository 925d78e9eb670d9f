package io.github.reactivelock.lettuce;

import java.time.Duration;

/**
 * How often a server that is no primary is left. The first time at once; then less and less often, because where no other
 * one takes over, the next connection leads to the same server.
 */
final class Patience {

    private static final long SHORTEST = Duration.ofMillis(200).toNanos();
    private static final long LONGEST = Duration.ofSeconds(5).toNanos();

    private long pause;
    private long since;

    /** Whether to leave now; counts it if so. */
    synchronized boolean isOver(long now) {
        boolean first = pause == 0 || now - since > 2 * LONGEST;
        if (!first && now - since < pause) {
            return false;
        }
        pause = first ? SHORTEST : Math.min(2 * pause, LONGEST);
        since = now;
        return true;
    }
}
