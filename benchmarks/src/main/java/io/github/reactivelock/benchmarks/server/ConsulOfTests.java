package io.github.reactivelock.benchmarks.server;

import io.github.reactivelock.testservers.ConsulServer;
import java.util.List;

/** A single Consul of the test kit, because Debian 12 has none. It waits for its disk. */
final class ConsulOfTests implements Server {

    private final ConsulServer server = ConsulServer.start();

    @Override
    public String uri() {
        return server.uri();
    }

    @Override
    public String version() {
        return "Consul " + server.ask("GET", "agent/self", "").replaceAll("(?s).*\"Version\":\"([^\"]+)\".*", "$1");
    }

    /** Id of the process that the test kit started; -1 in Docker. */
    @Override
    public List<Long> pids() {
        return List.of(ServerProcess.child("consul"));
    }

    @Override
    public void close() {
        server.close();
    }
}
