package io.github.reactivelock.benchmarks;

/**
 * One contender in one process. Each side drives its library in the way the library wants to be driven, with as little
 * of ours around it as can be, so that what is compared is the libraries.
 */
interface Side extends AutoCloseable {

    /** Takes the lock and gives it back at once, without blocking the caller. */
    void cycle(String key, long flow, Cycle cycle);

    /** Takes the lock and keeps it; for as long as it waits, the caller keeps nothing of it. */
    default void hold(String key, long flow, Cycle cycle) {
        throw new UnsupportedOperationException("this side cannot keep a lock");
    }

    @Override
    void close();
}
