package io.github.reactivelock.examples.flashsale;

import io.lettuce.core.KeyValue;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** The application's own connection to Redis; the lock has its own connections. */
final class AppRedis {

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> commands;
    private final StatefulRedisConnection<String, String> waiting;

    private AppRedis(
            RedisClient client,
            StatefulRedisConnection<String, String> commands,
            StatefulRedisConnection<String, String> waiting) {
        this.client = client;
        this.commands = commands;
        this.waiting = waiting;
    }

    static Mono<AppRedis> connect(String uri) {
        RedisURI parsed = RedisURI.create(uri);
        RedisClient client = RedisClient.create();
        Mono<StatefulRedisConnection<String, String>> connection =
                Mono.fromCompletionStage(() -> client.connectAsync(StringCodec.UTF8, parsed));
        return Mono.zip(connection, connection)
                .map(both -> new AppRedis(client, both.getT1(), both.getT2()))
                .onErrorResume(e -> shutdown(client).then(Mono.error(e)));
    }

    RedisReactiveCommands<String, String> commands() {
        return commands.reactive();
    }

    /** Takes elements from the head of a list as they come, until cancelled. For one caller at a time. */
    Flux<String> take(String list) {
        return waiting.reactive().blpop(1, list).map(KeyValue::getValue).repeat();
    }

    Mono<Void> close() {
        return shutdown(client);
    }

    private static Mono<Void> shutdown(RedisClient client) {
        return Mono.fromFuture(() -> client.shutdownAsync(0, 2, TimeUnit.SECONDS))
                .subscribeOn(Schedulers.boundedElastic());
    }
}
