package io.github.reactivelock.benchmarks;

import java.util.List;

/** Our own server, on a free port of this machine. It ends with this process at the latest. */
interface Server extends AutoCloseable {

    String uri();

    /** Name and version. */
    String version();

    /** The commands of clients until now, as one side sees them; empty if the server does not count them. */
    Usage usage(String side);

    /** Ids of its processes. */
    List<Long> pids();

    @Override
    void close();
}
