package io.github.reactivelock.benchmarks.scenario;

import io.github.reactivelock.benchmarks.client.Group;
import io.github.reactivelock.benchmarks.server.RedisServer;
import io.github.reactivelock.benchmarks.server.Server;
import io.github.reactivelock.benchmarks.server.Store;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The surroundings of scenarios: servers, started at their first use, client processes, and the pace. */
public final class Bench implements AutoCloseable {

    private final Pace pace;
    private final Map<Store, Server> servers = new EnumMap<>(Store.class);
    private @Nullable Group group;

    public Bench(Pace pace) {
        this.pace = pace;
    }

    public Pace pace() {
        return pace;
    }

    public Server server(Store store) {
        return servers.computeIfAbsent(store, Store::start);
    }

    public RedisServer redis() {
        return (RedisServer) server(Store.REDIS);
    }

    public List<String> versions() {
        return servers.values().stream().map(Server::version).toList();
    }

    /**
     * The given number of client processes. Reuses the last ones if their number is the same, with their connections
     * and compiled code.
     */
    public Group group(int size) {
        Group current = group;
        if (current == null || current.size() != size) {
            disband();
            current = new Group(size);
            group = current;
        }
        return current;
    }

    /** Ends the client processes. */
    public void disband() {
        if (group != null) {
            group.close();
            group = null;
        }
    }

    @Override
    public void close() {
        disband();
        servers.values().forEach(Server::close);
    }
}
