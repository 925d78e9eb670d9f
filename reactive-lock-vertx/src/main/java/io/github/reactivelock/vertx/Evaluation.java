package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.MonoSink;

/** One call of a script on its way: by digest at first, and by its body if the server does not know the digest. */
final class Evaluation {

    private final RedisScript script;
    private final List<String> keys;
    private final List<String> args;
    private final MonoSink<List<Object>> sink;
    private volatile boolean forgotten;
    private boolean withBody;
    private @Nullable RedisConnection sentOn;

    Evaluation(RedisScript script, List<String> keys, List<String> args, MonoSink<List<Object>> sink) {
        this.script = script;
        this.keys = keys;
        this.args = args;
        this.sink = sink;
    }

    /** The subscriber lost interest; the command goes its way. */
    void forget() {
        forgotten = true;
    }

    Request sendingOn(RedisConnection connection) {
        sentOn = connection;
        Request request = withBody
                ? Request.cmd(Command.EVAL).arg(script.body())
                : Request.cmd(Command.EVALSHA).arg(script.sha1());
        request.arg(keys.size());
        keys.forEach(request::arg);
        args.forEach(request::arg);
        return request;
    }

    /** Its connection is gone, and with it the answer. */
    void unsend() {
        sentOn = null;
    }

    boolean isSentOn(RedisConnection connection) {
        return sentOn == connection;
    }

    /** Whether the error is that the server does not know the digest; the next sending then brings the body along. */
    boolean needsBody(Throwable error) {
        String said = error.getMessage();
        if (withBody || said == null || !said.startsWith("NOSCRIPT")) {
            return false;
        }
        withBody = true;
        return true;
    }

    void answer(@Nullable Response reply) {
        if (reply != null && reply.type() == ResponseType.MULTI) {
            sink.success(values(reply));
        } else if (reply != null && reply.type() == ResponseType.NUMBER) {
            sink.success(List.of(reply.toLong()));
        } else {
            refuse(new IllegalStateException("the script gave an answer of an unknown form: " + reply));
        }
    }

    void refuse(Throwable error) {
        if (!forgotten) {
            sink.error(error);
        }
    }

    private static List<Object> values(Response reply) {
        List<Object> values = new ArrayList<>(reply.size());
        for (Response element : reply) {
            values.add(value(element));
        }
        return values;
    }

    private static Object value(@Nullable Response element) {
        if (element == null) {
            return "";
        }
        if (element.type() == ResponseType.MULTI) {
            return values(element);
        }
        return element.type() == ResponseType.NUMBER ? element.toLong() : element.toString();
    }
}
