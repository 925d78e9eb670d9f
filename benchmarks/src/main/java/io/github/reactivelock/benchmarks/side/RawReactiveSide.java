package io.github.reactivelock.benchmarks.side;

import io.lettuce.core.RedisClient;
import io.lettuce.core.ScriptOutputType;
import io.lettuce.core.SetArgs;
import io.lettuce.core.api.StatefulRedisConnection;
import io.lettuce.core.api.reactive.RedisReactiveCommands;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/** A {@link RawLock} over Lettuce's publishers. */
final class RawReactiveSide implements Side {

    private static final SetArgs IF_FREE = SetArgs.Builder.nx().px(RawLock.LEASE_MILLIS);

    private final RedisClient client;
    private final StatefulRedisConnection<String, String> connection;
    private final RedisReactiveCommands<String, String> redis;
    private final boolean script;
    private final String acquire;
    private final String release;
    private final Scheduler work;

    /** @param work the holder's scheduler, {@code immediate()} for Lettuce's own thread */
    RawReactiveSide(String uri, RawLock lock, Scheduler work) {
        this.work = work;
        this.client = RedisClient.create(uri);
        this.connection = client.connect();
        this.redis = connection.reactive();
        this.script = lock.isScript();
        this.acquire = script ? connection.sync().scriptLoad(lock.acquire()) : "";
        this.release = connection.sync().scriptLoad(lock.release());
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        String[] keys = RawLock.keys(key);
        String id = Long.toString(flow);
        emitted(acquire(keys, id))
                .flatMap(token -> {
                    cycle.entered();
                    return emitted(redis.<Long>evalsha(release, ScriptOutputType.INTEGER, new String[] {keys[0]}, id)
                            .next());
                })
                .subscribe(deleted -> {}, cycle::ended, () -> cycle.ended(null));
    }

    private <T> Mono<T> emitted(Mono<T> answer) {
        return work == Schedulers.immediate() ? answer : answer.publishOn(work);
    }

    private Mono<?> acquire(String[] keys, String id) {
        return script
                ? redis.<Long>evalsha(acquire, ScriptOutputType.INTEGER, keys, id, Long.toString(RawLock.LEASE_MILLIS))
                        .next()
                : redis.set(keys[0], id, IF_FREE);
    }

    @Override
    public void close() {
        connection.close();
        client.shutdown();
    }
}
