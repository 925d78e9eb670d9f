package io.github.reactivelock.lettuce;

import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisCredentialsProvider;
import io.lettuce.core.RedisURI;
import io.lettuce.core.StaticCredentialsProvider;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Credentials of which the name that was given last is known here, so that an error can tell it. */
final class KnownUser implements RedisCredentialsProvider {

    private final RedisCredentialsProvider given;
    private volatile String name = "";

    private KnownUser(RedisCredentialsProvider given) {
        this.given = given;
    }

    /** What is known at once stays as it is, for the driver asks others on a thread of its own. */
    static RedisCredentialsProvider of(RedisCredentialsProvider given) {
        return given instanceof ImmediateRedisCredentialsProvider ? given : new KnownUser(given);
    }

    /** As {@link io.github.reactivelock.redis.RedisConnection#user()}. */
    static String of(RedisURI uri) {
        RedisCredentialsProvider provider = uri.getCredentialsProvider();
        if (provider instanceof StaticCredentialsProvider known) {
            return name(known.resolveCredentialsNow());
        }
        return provider instanceof KnownUser known ? known.name : "";
    }

    private static String name(RedisCredentials given) {
        return given.hasUsername() && given.hasPassword() ? given.getUsername() : "default";
    }

    @Override
    public Mono<RedisCredentials> resolveCredentials() {
        return given.resolveCredentials().doOnNext(found -> name = name(found));
    }

    @Override
    public boolean supportsStreaming() {
        return given.supportsStreaming();
    }

    @Override
    public Flux<RedisCredentials> credentials() {
        return given.credentials().doOnNext(found -> name = name(found));
    }
}
