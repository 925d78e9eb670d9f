package io.github.reactivelock.lettuce;

import io.github.reactivelock.redis.RedisCall;
import io.github.reactivelock.redis.RedisScript;
import io.lettuce.core.RedisCommandExecutionException;
import io.lettuce.core.RedisException;
import io.lettuce.core.api.StatefulConnection;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import reactor.core.Disposable;
import reactor.core.publisher.MonoSink;

/** One call of a script, from its subscription to its answer. */
final class Evaluation extends RedisCall implements Disposable {

    // Commands pile up while there is no connection; what is refused then would have come too late anyway.
    private static final int MOST_UNANSWERED = 200_000;

    private final MonoSink<List<Object>> sink;
    private final AtomicInteger unanswered;
    private final Runnable demoted;
    private volatile boolean forgotten;

    Evaluation(
            RedisScript script,
            List<String> keys,
            List<String> args,
            MonoSink<List<Object>> sink,
            AtomicInteger unanswered,
            Runnable demoted) {
        super(script, keys, args);
        this.sink = sink;
        this.unanswered = unanswered;
        this.demoted = demoted;
    }

    <C extends StatefulConnection<String, String>> void start(LazyConnection<C> connection, Outbox outbox) {
        if (unanswered.incrementAndGet() > MOST_UNANSWERED) {
            failed(new RedisException(MOST_UNANSWERED + " commands wait for an answer already"));
        } else {
            connection.use(open -> outbox.send(this), this::failed);
        }
    }

    void answered(List<Object> reply) {
        unanswered.decrementAndGet();
        sink.success(reply);
    }

    void failed(Throwable error) {
        unanswered.decrementAndGet();
        if (error instanceof RedisCommandExecutionException
                && RedisScript.errorCode(String.valueOf(error.getMessage())).equals("READONLY")) {
            demoted.run();
        }
        if (!forgotten) {
            sink.error(error);
        }
    }

    /** The subscriber lost interest; the command goes its way. */
    @Override
    public void dispose() {
        forgotten = true;
    }
}
