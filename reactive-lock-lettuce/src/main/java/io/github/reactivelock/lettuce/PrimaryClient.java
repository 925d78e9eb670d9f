package io.github.reactivelock.lettuce;

import io.github.reactivelock.spi.support.SilenceClock;
import io.lettuce.core.RedisConnectionException;
import io.lettuce.core.RedisURI;
import io.lettuce.core.resource.ClientResources;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * A client that asks all of several servers at every connection to {@link #primary} which of them is the primary now.
 * It refuses two primaries, because it cannot know which of them will keep its writes.
 */
final class PrimaryClient extends AsyncClient {

    private final List<RedisURI> servers;
    private final RedisURI primary;

    PrimaryClient(ClientResources resources, List<RedisURI> servers) {
        super(resources, servers.get(0));
        this.servers = servers;
        this.primary = RedisURI.builder(servers.get(0)).build();
    }

    /** Stands for the server that is the primary. */
    RedisURI primary() {
        return primary;
    }

    @Override
    @SuppressWarnings("ReferenceEquality") // a server that is asked for its role may have an equal URI
    protected Mono<SocketAddress> getSocketAddress(RedisURI uri) {
        return uri == primary ? find() : super.getSocketAddress(uri);
    }

    private Mono<SocketAddress> find() {
        return Mono.defer(() -> {
            Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
            return Flux.fromIterable(servers)
                    .filterWhen(
                            server -> isPrimary(server).doOnError(failures::add).onErrorReturn(false))
                    .collectList()
                    .flatMap(found ->
                            found.size() == 1 ? super.getSocketAddress(found.get(0)) : refuse(found, failures));
        });
    }

    private Mono<SocketAddress> refuse(List<RedisURI> found, Queue<Throwable> failures) {
        RedisConnectionException refusal = new RedisConnectionException(
                found.isEmpty()
                        ? "no primary among " + hosts(servers)
                        : "more than one primary: " + hosts(found) + "; make all but one of them replicas");
        if (failures.size() == servers.size()) { // none of them said what it is
            failures.forEach(refusal::addSuppressed);
        }
        return Mono.error(refusal);
    }

    private Mono<Boolean> isPrimary(RedisURI server) {
        Mono<Boolean> role = Mono.usingWhen(
                Mono.fromCompletionStage(() -> connectAsync(Utf8.CODEC, server)),
                connection -> Mono.fromCompletionStage(() -> connection.async().role())
                        .map(said -> "master".equals(said.get(0))),
                connection -> Mono.fromCompletionStage(connection::closeAsync));
        Duration limit = server.getTimeout();
        return SilenceClock.ofThisProcess()
                .timeout(
                        role,
                        limit,
                        Mono.error(() -> new TimeoutException(
                                hosts(List.of(server)) + " did not tell its role within " + limit.toMillis() + " ms")));
    }

    static String hosts(List<RedisURI> uris) {
        return uris.stream().map(uri -> uri.getHost() + ":" + uri.getPort()).collect(Collectors.joining(", "));
    }
}
