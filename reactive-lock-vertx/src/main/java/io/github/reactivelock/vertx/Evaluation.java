package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.RedisBatch;
import io.github.reactivelock.redis.RedisCall;
import io.github.reactivelock.redis.RedisScript;
import java.util.List;
import reactor.core.publisher.MonoSink;

/** One call of a script, from its subscription to its answer; it leaves in a {@link Call}. */
final class Evaluation extends RedisCall {

    private final MonoSink<List<Object>> sink;
    private volatile boolean forgotten;
    private boolean repeated;

    Evaluation(RedisScript script, List<String> keys, List<String> args, MonoSink<List<Object>> sink) {
        super(script, keys, args);
        this.sink = sink;
    }

    /** The subscriber lost interest; the command goes its way. */
    void forget() {
        forgotten = true;
    }

    /** It may have been carried out all the same, and is sent again. */
    void unanswered() {
        repeated = true;
    }

    void answered(List<Object> reply) {
        if (repeated && RedisBatch.isOpen(args(), reply)) {
            refuse(RedisBatch.open());
        } else {
            sink.success(reply);
        }
    }

    void refuse(Throwable error) {
        if (!forgotten) {
            sink.error(error);
        }
    }
}
