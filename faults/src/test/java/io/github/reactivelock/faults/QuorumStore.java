package io.github.reactivelock.faults;

import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.testservers.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;

/** Five Redis that share nothing and have been up for long enough to count. */
final class QuorumStore extends Store {

    static final int MAJORITY = 3;

    final List<RedisServer> servers =
            Stream.generate(RedisServer::start).limit(5).toList();

    QuorumStore() {
        untilAllCount();
    }

    void untilAllCount() {
        untilTheyCount(servers, Backends.LONGEST_OF_QUORUM);
    }

    static void untilTheyCount(List<RedisServer> servers, Duration longestLease) {
        Lab.eventually(
                "all nodes count",
                () -> servers.stream().allMatch(server -> uptime(server) > longestLease.toSeconds()));
    }

    private static long uptime(RedisServer server) {
        return String.valueOf(server.command("INFO", "server"))
                .lines()
                .filter(line -> line.startsWith("uptime_in_seconds:"))
                .mapToLong(line -> Long.parseLong(line.substring(line.indexOf(':') + 1)))
                .findFirst()
                .orElseThrow();
    }

    @Override
    List<Integer> ports() {
        return servers.stream().map(RedisServer::port).toList();
    }

    @Override
    String address(List<Integer> ports) {
        return "quorum:"
                + ports.stream().map(port -> "redis://127.0.0.1:" + port).collect(Collectors.joining(","));
    }

    @Override
    void pause() {
        servers.subList(0, MAJORITY).forEach(RedisServer::pause);
    }

    @Override
    void resume() {
        servers.subList(0, MAJORITY).forEach(RedisServer::resume);
    }

    /** The longest that it grants: a node counts when it has been up for so long. */
    @Override
    Duration longLease() {
        return Backends.LONGEST_OF_QUORUM;
    }

    @Override
    void forget(String key) {
        servers.forEach(server -> server.command("DEL", "{reactivelock:" + key + "}"));
    }

    @Override
    List<String> claims() {
        return servers.stream()
                .flatMap(server -> Leftovers.keys(server, Duration.ZERO).stream())
                .toList();
    }

    @Override
    void breakPushes(Way unused) {
        servers.forEach(server -> server.command("CLIENT", "KILL", "TYPE", "pubsub"));
    }

    /** Of a minority: a majority that is silent for as long as it takes to notice is an outage, as {@link #pause()}. */
    @Override
    void forget(Way client) {
        client.proxies().subList(MAJORITY, client.proxies().size()).forEach(TcpProxy::forget);
    }

    @Override
    void forgetPushes(Way waiter) {
        waiter.forget("SUBSCRIBE");
    }

    /** Without a majority of answers it takes back what it did; but the tokens that it gave remain the newest. */
    @Override
    BooleanSupplier acts(String key, Lab lab) {
        long newest = counters(key).max().orElse(0);
        return () -> counters(key).filter(counter -> counter > newest).count() >= MAJORITY;
    }

    private LongStream counters(String key) {
        return servers.stream()
                .map(server -> server.command("GET", "{reactivelock:" + key + "}:token"))
                .filter(Objects::nonNull)
                .mapToLong(counter -> Long.parseLong(String.valueOf(counter).replaceAll("^\\+| .*$", "")));
    }

    @Override
    public void close() {
        super.close();
        servers.forEach(RedisServer::close);
    }
}
