package io.github.reactivelock.benchmarks.side;

/**
 * One contender in one process. Each side uses its library as intended, with as little code of ours as possible, so
 * that the comparison is of the libraries.
 */
public interface Side extends AutoCloseable {

    /** Takes the lock and gives it back at once, without blocking the caller. */
    void cycle(String key, long flow, Cycle cycle);

    /** Takes the lock and keeps it. While it waits, the caller keeps no reference to it. */
    default void hold(String key, long flow, Cycle cycle) {
        throw new UnsupportedOperationException("this side cannot keep a lock");
    }

    @Override
    void close();
}
