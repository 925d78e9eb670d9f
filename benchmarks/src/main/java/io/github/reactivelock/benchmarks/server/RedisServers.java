package io.github.reactivelock.benchmarks.server;

import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Several Redis servers that know nothing of one another, for a quorum. Their addresses are one text, with commas. */
final class RedisServers implements Server {

    private final List<RedisServer> servers;

    RedisServers(int count) {
        this.servers = Stream.generate(RedisServer::new).limit(count).toList();
    }

    @Override
    public String uri() {
        return servers.stream().map(RedisServer::uri).collect(Collectors.joining(","));
    }

    @Override
    public String version() {
        return servers.size() + " × " + servers.get(0).version();
    }

    @Override
    public Usage usage(String side) {
        return servers.stream().map(server -> server.usage(side)).reduce(Usage.NONE, Usage::plus);
    }

    @Override
    public List<Long> pids() {
        return servers.stream().flatMap(server -> server.pids().stream()).toList();
    }

    @Override
    public void close() {
        servers.forEach(RedisServer::close);
    }
}
