package io.github.reactivelock.redis;

import java.time.Duration;

/**
 * How often a connection leaves a server because of what that says: that it is a read-only replica, or that a channel
 * has no subscriber. The first time at once; then less and less often, because the next connection may lead to the same
 * server. Safe for use from any thread.
 */
public final class Patience {

    private static final long SHORTEST = Duration.ofMillis(200).toNanos();
    private static final long LONGEST = Duration.ofSeconds(5).toNanos();

    private long pause;
    private long since;

    /** Patience that has not been tried yet. */
    public Patience() {}

    /**
     * Whether to leave now; counts it if so.
     *
     * @param now the monotonic clock, in nanoseconds
     * @return whether the pause since the last time is over
     */
    public synchronized boolean isOver(long now) {
        boolean first = pause == 0 || now - since > 2 * LONGEST;
        if (!first && now - since < pause) {
            return false;
        }
        pause = first ? SHORTEST : Math.min(2 * pause, LONGEST);
        since = now;
        return true;
    }
}
