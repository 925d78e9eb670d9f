package io.github.reactivelock.examples.webflux;

import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisURI;
import io.lettuce.core.codec.StringCodec;
import java.time.Duration;
import org.springframework.http.HttpStatus;
import org.springframework.stereotype.Component;
import org.springframework.web.server.ResponseStatusException;
import reactor.core.publisher.Mono;

/** Has Redis answer nobody for a while, as one that swaps or forks does. */
@Component
final class Outage implements AutoCloseable {

    private final RedisClient redis = RedisClient.create();
    private final Settings settings;

    Outage(Settings settings) {
        this.settings = settings;
    }

    Mono<Void> of(Duration duration) {
        if (!settings.ownRedis()) {
            return Mono.error(new ResponseStatusException(
                    HttpStatus.FORBIDDEN, "others may use the Redis that --redis names; leave the option out"));
        }
        RedisURI uri = RedisURI.create(settings.redis());
        return Mono.usingWhen(
                Mono.fromCompletionStage(() -> redis.connectAsync(StringCodec.UTF8, uri)),
                connection -> connection.reactive().clientPause(duration.toMillis()).then(),
                connection -> Mono.fromCompletionStage(connection::closeAsync));
    }

    @Override
    public void close() {
        redis.shutdown();
    }
}
