package io.github.reactivelock.faults;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.ConsulServer;
import java.io.FileNotFoundException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** One Consul, or the members of a cluster, which clients ask in the same order. */
final class ConsulStore extends Store {

    private static final String ROOT = "reactivelock/";
    private static final Pattern ENTRY = Pattern.compile("\"Key\":\"([^\"]+)\".*?\"CreateIndex\":([0-9]+)");

    private final List<ConsulServer> members;

    ConsulStore(int members) {
        this.members = members == 1 ? List.of(ConsulServer.start()) : ConsulServer.cluster(members);
    }

    @Override
    List<Integer> ports() {
        return members.stream().map(ConsulServer::port).toList();
    }

    @Override
    String address(List<Integer> ports) {
        return ports.stream().map(port -> "127.0.0.1:" + port).collect(Collectors.joining(",", "consul:", ""));
    }

    @Override
    LockBackend backend(Duration lease) {
        return Backends.consul(agents(ports()), lease);
    }

    @Override
    LockBackend backend(Way way, Duration lease) {
        return Backends.consul(agents(way.ports()), lease);
    }

    private String agents(List<Integer> ports) {
        return address(ports).substring("consul:".length());
    }

    void restart() {
        ConsulServer.restart(members);
    }

    void restartEmpty() {
        members.get(0).restartEmpty();
    }

    /** All but one: what is left of a cluster then has no leader. */
    @Override
    void pause() {
        members.stream().skip(members.size() == 1 ? 0 : 1).forEach(ConsulServer::pause);
    }

    /** Without a leader a cluster serves as little as when it was paused. */
    @Override
    void resume() {
        if (members.size() == 1) {
            members.get(0).resume();
        } else {
            ConsulServer.resume(members.subList(1, members.size()));
        }
    }

    @Override
    void forget(String key) {
        String owner = ENTRY.matcher(read("kv/" + ROOT + key + "/?recurse&consistent"))
                .results()
                .min(Comparator.comparingLong(entry -> Long.parseLong(entry.group(2))))
                .map(entry -> entry.group(1))
                .orElseThrow();
        members.get(0).ask("DELETE", "kv/" + owner, "");
    }

    /** What is told to a client is no claim. */
    @Override
    List<String> claims() {
        return ENTRY.matcher(read("kv/" + ROOT + "?recurse&consistent"))
                .results()
                .map(MatchResult::group)
                .filter(entry -> !entry.contains("/!"))
                .toList();
    }

    private String read(String path) {
        try {
            return members.get(0).ask("GET", path, "");
        } catch (UncheckedIOException e) {
            if (e.getCause() instanceof FileNotFoundException) { // there is none
                return "";
            }
            throw e;
        }
    }

    @Override
    void forgetPushes(Way waiter) {
        waiter.forget("index=");
    }

    /** It ends a session at some moment between one and two TTLs, and a new leader begins to count anew. */
    @Override
    Duration expiry() {
        return lease().multipliedBy(2).plusSeconds(members.size() == 1 ? 2 : 12);
    }

    /**
     * Three programs start and elect a leader within it, on a busy machine; a question that meets them meanwhile may
     * take its whole timeout, and the next renewal comes a third of this later.
     */
    @Override
    Duration longLease() {
        return Duration.ofSeconds(members.size() == 1 ? 30 : 60);
    }

    @Override
    public void close() {
        super.close();
        members.forEach(ConsulServer::close);
    }
}
