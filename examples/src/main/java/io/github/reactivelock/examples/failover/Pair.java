package io.github.reactivelock.examples.failover;

import io.github.reactivelock.examples.Print;
import io.github.reactivelock.examples.RedisProcess;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.codec.StringCodec;
import io.lettuce.core.resource.ClientResources;
import io.lettuce.core.resource.Delay;
import io.lettuce.core.resource.SocketAddressResolver;
import java.net.InetSocketAddress;
import java.net.SocketAddress;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import reactor.core.publisher.Mono;

/** A primary, its replica, and an address that always leads to the current primary. */
final class Pair {

    private static final Duration LIMIT = Duration.ofSeconds(20);
    private static final Duration LOOK = Duration.ofMillis(20);
    private static final RedisURI MOVING = RedisURI.create("127.0.0.1", 6379);

    private final RedisProcess primary;
    private final RedisProcess replica;
    private volatile RedisProcess current;
    private final ClientResources resources = ClientResources.builder()
            .reconnectDelay(Delay.constant(Duration.ofMillis(50)))
            .socketAddressResolver(new SocketAddressResolver() {
                @Override
                public SocketAddress resolve(RedisURI uri) {
                    RedisURI to = MOVING.equals(uri) ? RedisURI.create(current.uri()) : uri;
                    return new InetSocketAddress(to.getHost(), to.getPort());
                }
            })
            .build();
    private final RedisClient client = RedisClient.create(resources);

    private Pair(RedisProcess primary, RedisProcess replica) {
        this.primary = primary;
        this.replica = replica;
        this.current = primary;
    }

    static Mono<Pair> start() {
        return RedisProcess.start()
                .flatMap(primary -> RedisProcess.start("--replicaof", "127.0.0.1", "" + primary.port())
                        .map(replica -> new Pair(primary, replica)))
                .delayUntil(Pair::untilLinked);
    }

    LettuceLockBackend backend() {
        return LettuceLockBackend.using(client, MOVING);
    }

    private Mono<String> untilLinked() {
        return replication(replica, "master_link_status:up");
    }

    /** Waits until the replica is in step with the primary. */
    Mono<String> untilReplicated() {
        return Mono.usingWhen(
                        Mono.fromCompletionStage(
                                () -> client.connectAsync(StringCodec.UTF8, RedisURI.create(primary.uri()))),
                        connection -> connection.reactive().waitForReplication(1, LIMIT.toMillis()),
                        connection -> Mono.fromCompletionStage(connection.closeAsync()))
                .map(String::valueOf);
    }

    /** The replica follows an address without a server. */
    Mono<String> cutOff() {
        return command(replica, redis -> redis.replicaof("127.0.0.1", 1));
    }

    /** Kills the primary; the replica takes its place. */
    Mono<Void> failOver() {
        return primary.kill()
                .then(command(replica, RedisReactiveCommands::replicaofNoOne))
                .doOnNext(promoted -> {
                    current = replica;
                    Print.line("  the primary is killed and the replica promoted");
                })
                .then();
    }

    private Mono<String> replication(RedisProcess of, String wanted) {
        return command(of, redis -> redis.info("replication"))
                .filter(info -> info.contains(wanted))
                .repeatWhenEmpty(again -> again.delayElements(LOOK))
                .timeout(LIMIT);
    }

    private Mono<String> command(
            RedisProcess to, Function<RedisReactiveCommands<String, String>, Mono<String>> command) {
        return Mono.usingWhen(
                Mono.fromCompletionStage(() -> client.connectAsync(StringCodec.UTF8, RedisURI.create(to.uri()))),
                connection -> command.apply(connection.reactive()),
                connection -> Mono.fromCompletionStage(connection.closeAsync()));
    }

    Mono<Void> stop() {
        return Mono.fromCompletionStage(() -> client.shutdownAsync(0, 1, TimeUnit.SECONDS))
                .then(Mono.<Void>create(
                        sink -> resources.shutdown(0, 1, TimeUnit.SECONDS).addListener(done -> sink.success())))
                .then(primary.stop())
                .then(replica.stop());
    }
}
