package io.github.reactivelock.benchmarks.client;

/**
 * The longest time for which a process, whose flows all want the same lock, did not have it. Only the holder of the
 * lock writes it.
 */
final class Gaps {

    private volatile long last;
    private volatile long longest;

    void start(long now) {
        last = now;
    }

    void entered(long now) {
        longest = Math.max(longest, now - last);
        last = now;
    }

    /** A process that still waits at the end has waited as well. */
    long longest(long end) {
        return Math.max(longest, end - last);
    }
}
