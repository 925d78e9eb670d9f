package io.github.reactivelock.examples.partitions;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.codec.StringCodec;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** What the server says that it ran, over a connection that no lock uses. */
final class Counter {

    /**
     * What the server ran in a while.
     *
     * @param scripts calls of scripts; each is one round trip of a lock
     * @param commands all of them, those in the scripts too
     */
    record Count(long scripts, long commands) {}

    private static final Pattern STATISTIC = Pattern.compile("cmdstat_([^:]+):calls=([0-9]+)");

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;

    private Counter(RedisClient client, StatefulRedisConnection<String, String> connection) {
        this.client = client;
        this.connection = connection;
    }

    static Mono<Counter> connect(String uri) {
        RedisClient client = RedisClient.create();
        return Mono.fromCompletionStage(() -> client.connectAsync(StringCodec.UTF8, RedisURI.create(uri)))
                .map(connection -> new Counter(client, connection))
                .onErrorResume(e -> shutdown(client).then(Mono.error(e)));
    }

    /** Runs it, and counts meanwhile. */
    Mono<Count> during(Mono<Void> work) {
        return now().flatMap(before -> work.then(now())
                .map(after -> new Count(after.scripts - before.scripts, after.commands - before.commands)));
    }

    private Mono<Count> now() {
        return connection.reactive().info("commandstats").map(Counter::parse);
    }

    private static Count parse(String statistics) {
        long scripts = 0;
        long commands = 0;
        for (var statistic : STATISTIC.matcher(statistics).results().toList()) {
            String command = statistic.group(1);
            long calls = Long.parseLong(statistic.group(2));
            scripts += command.startsWith("eval") ? calls : 0;
            commands += command.equals("info") ? 0 : calls;
        }
        return new Count(scripts, commands);
    }

    Mono<Void> close() {
        return shutdown(client);
    }

    private static Mono<Void> shutdown(RedisClient client) {
        return Mono.fromFuture(() -> client.shutdownAsync(0, 2, TimeUnit.SECONDS))
                .subscribeOn(Schedulers.boundedElastic());
    }
}
