package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.RedisBatch;
import io.github.reactivelock.redis.RedisScript;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One command on its way, for one evaluation or for several that leave together: by the script's digest at first, and
 * by its body if the server does not know the digest.
 */
final class Call {

    /** Not empty, and never changed; if there are several, they all {@linkplain Evaluation#joins join}. */
    final List<Evaluation> evaluations;

    private boolean withBody;
    private @Nullable RedisConnection sentOn;

    Call(List<Evaluation> evaluations) {
        this.evaluations = evaluations;
    }

    Request sendingOn(RedisConnection connection) {
        sentOn = connection;
        RedisBatch batch = RedisBatch.of(evaluations);
        return request(evaluations.get(0).script(), batch.keys(), batch.args());
    }

    private Request request(RedisScript script, List<String> keys, List<String> args) {
        Request request = withBody
                ? Request.cmd(Command.EVAL).arg(script.body())
                : Request.cmd(Command.EVALSHA).arg(script.sha1());
        request.arg(keys.size());
        keys.forEach(request::arg);
        args.forEach(request::arg);
        return request;
    }

    boolean isSentOn(RedisConnection connection) {
        return sentOn == connection;
    }

    /** Its connection is gone, and with it the answer. */
    void unsend() {
        sentOn = null;
        evaluations.forEach(Evaluation::unanswered);
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

    /** Each evaluation gets its own part. True if one of them was refused because the server is a replica. */
    boolean answer(@Nullable Response reply) {
        if (evaluations.size() == 1) {
            return answer(evaluations.get(0), reply);
        }
        Response parts = reply != null && reply.type() == ResponseType.MULTI ? reply : null;
        boolean readOnly = false;
        for (int i = 0; i < evaluations.size(); i++) {
            Response part = parts != null && i < parts.size() ? parts.get(i) : null;
            readOnly |= answer(evaluations.get(i), part);
        }
        return readOnly;
    }

    private static boolean answer(Evaluation asked, @Nullable Response reply) {
        if (reply != null && reply.type() == ResponseType.MULTI) {
            List<Object> values = values(reply);
            asked.tell(() -> asked.answered(values));
        } else if (reply != null && reply.type() == ResponseType.NUMBER) {
            List<Object> number = List.of(reply.toLong());
            asked.tell(() -> asked.answered(number));
        } else if (reply != null && reply.type() == ResponseType.BULK) { // the text of an error, of one call of several
            IllegalStateException error = new IllegalStateException(reply.toString());
            asked.tell(() -> asked.refuse(error));
            return isReadOnly(error);
        } else {
            asked.tell(() ->
                    asked.refuse(new IllegalStateException("the script gave an answer of an unknown form: " + reply)));
        }
        return false;
    }

    static boolean isReadOnly(Throwable error) {
        return RedisScript.errorCode(String.valueOf(error.getMessage())).equals("READONLY");
    }

    void refuse(Throwable error) {
        evaluations.forEach(each -> each.tell(() -> each.refuse(error)));
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
