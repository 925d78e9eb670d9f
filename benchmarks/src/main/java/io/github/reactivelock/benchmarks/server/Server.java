package io.github.reactivelock.benchmarks.server;

import java.util.List;

/** Our own server, on a free port of this machine. It ends with this process at the latest. */
public interface Server extends AutoCloseable {

    String uri();

    /** Name and version. */
    String version();

    /** The commands of clients until now, as one side sees them; none where the server does not count them. */
    default Usage usage(String side) {
        return Usage.NONE;
    }

    /** Ids of its processes. */
    List<Long> pids();

    @Override
    void close();
}
