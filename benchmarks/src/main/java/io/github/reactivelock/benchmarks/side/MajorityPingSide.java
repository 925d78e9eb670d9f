package io.github.reactivelock.benchmarks.side;

import io.lettuce.core.RedisClient;
import io.lettuce.core.api.StatefulRedisConnection;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;

/** Two rounds of PINGs to all servers, each over when a majority has answered: no lock of a quorum can be faster. */
final class MajorityPingSide implements Side {

    private final List<RedisClient> clients;
    private final List<StatefulRedisConnection<String, String>> connections;

    MajorityPingSide(String uris) {
        this.clients = Stream.of(uris.split(",", -1)).map(RedisClient::create).toList();
        this.connections = clients.stream().map(RedisClient::connect).toList();
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        var unused = round().thenCompose(nothing -> {
                    cycle.entered();
                    return round();
                })
                .whenComplete((nothing, failure) -> cycle.ended(failure));
    }

    private CompletableFuture<Void> round() {
        CompletableFuture<Void> decided = new CompletableFuture<>();
        AtomicInteger missing = new AtomicInteger(connections.size() / 2 + 1);
        for (StatefulRedisConnection<String, String> each : connections) {
            each.async().ping().whenComplete((pong, failure) -> {
                if (failure != null) {
                    decided.completeExceptionally(failure);
                } else if (missing.decrementAndGet() == 0) {
                    decided.complete(null);
                }
            });
        }
        return decided;
    }

    @Override
    public void close() {
        connections.forEach(StatefulRedisConnection::close);
        clients.forEach(RedisClient::shutdown);
    }
}
