package io.github.reactivelock.benchmarks;

/** A server of our own, on a free port of this machine. It ends with this process at the latest. */
interface Server extends AutoCloseable {

    String uri();

    /** Name and version. */
    String version();

    /** What clients have asked of it until now, as seen by one side; nothing if it does not count that. */
    Usage usage(String side);

    long pid();

    @Override
    void close();
}
