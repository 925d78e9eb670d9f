package io.github.reactivelock.benchmarks.side;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import java.util.concurrent.CountDownLatch;

/** A {@link RawLock} over one connection of Vert.x's Redis client; holders stay on its event loop. */
final class RawVertxSide implements Side {

    /** More than any load has flows. */
    private static final int MOST_WAITING = 4_096;

    private final Vertx vertx = Vertx.vertx();
    private final RedisConnection redis;
    private final String acquire;
    private final String release;

    RawVertxSide(String uri) {
        RedisOptions options = new RedisOptions().setConnectionString(uri).setMaxWaitingHandlers(MOST_WAITING);
        this.redis = await(Redis.createClient(vertx, options).connect());
        this.acquire = load(RawLock.FENCED.acquire());
        this.release = load(RawLock.FENCED.release());
    }

    private String load(String script) {
        return await(redis.send(Request.cmd(Command.SCRIPT).arg("LOAD").arg(script)))
                .toString();
    }

    private static <T> T await(Future<T> asked) {
        CountDownLatch done = new CountDownLatch(1);
        asked.onComplete(outcome -> done.countDown());
        try {
            done.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
        if (asked.failed()) {
            throw new IllegalStateException(asked.cause());
        }
        return asked.result();
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        String[] keys = RawLock.keys(key);
        String id = Long.toString(flow);
        Future<Response> taken = redis.send(Request.cmd(Command.EVALSHA)
                .arg(acquire)
                .arg(2)
                .arg(keys[0])
                .arg(keys[1])
                .arg(id)
                .arg(RawLock.LEASE_MILLIS));
        taken.compose(token -> {
                    cycle.entered();
                    return redis.send(Request.cmd(Command.EVALSHA)
                            .arg(release)
                            .arg(1)
                            .arg(keys[0])
                            .arg(id));
                })
                .onComplete(deleted -> cycle.ended(deleted.cause()));
    }

    @Override
    public void close() {
        await(redis.close().compose(closed -> vertx.close()));
    }
}
