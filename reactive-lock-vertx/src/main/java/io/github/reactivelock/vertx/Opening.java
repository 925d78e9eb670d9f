package io.github.reactivelock.vertx;

import io.github.reactivelock.redis.NeededCommands;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import io.vertx.redis.client.Response;
import io.vertx.redis.client.ResponseType;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * A connection on its way.
 *
 * @param connection the connection, once it is open
 * @param close gets rid of it, also before it is open
 */
record Opening(Future<RedisConnection> connection, Supplier<Future<Void>> close) {

    /** A client for this connection alone, so that closing it leaves no socket in a pool. */
    static Opening ofOwnClient(Vertx vertx, RedisOptions options, String channel) {
        Redis client = clientFor(vertx, options);
        return new Opening(client.connect().compose(open -> checked(open, channel)), client::close);
    }

    private static Redis clientFor(Vertx vertx, RedisOptions options) {
        return Redis.createClient(vertx, options);
    }

    /** A connection from the application's client, which gets it back. */
    static Opening from(Redis client, String channel) {
        Future<RedisConnection> connection = client.connect();
        return new Opening(
                connection.compose(open -> checked(open, channel)), () -> connection.compose(RedisConnection::close));
    }

    // Without a password the client connects, and only the first command shows that the server needs one. The server's
    // answer to a long command is hard to understand. The script leaves behind it, so both take one round trip.
    private static Future<RedisConnection> checked(RedisConnection connection, String channel) {
        Future<Response> pong = connection.send(Request.cmd(Command.PING));
        Future<Response> missing = missing(connection, channel);
        return pong.transform((said, error) ->
                error != null && String.valueOf(error.getMessage()).startsWith("NOAUTH")
                        ? Future.failedFuture(error)
                        : missing.compose(answer -> NeededCommands.refusals(texts(answer)).stream()
                                .findFirst()
                                .map(Future::<RedisConnection>failedFuture)
                                .orElse(Future.succeededFuture(connection))));
    }

    /**
     * An error says nothing of the commands, and neither does a connection that has just ended: the next use finds that
     * out.
     */
    private static Future<Response> missing(RedisConnection connection, String channel) {
        try {
            return connection
                    .send(Request.cmd(Command.EVAL)
                            .arg(NeededCommands.check().body())
                            .arg(0)
                            .arg(channel))
                    .otherwiseEmpty();
        } catch (RuntimeException ended) {
            return Future.succeededFuture();
        }
    }

    private static List<Object> texts(@Nullable Response answer) {
        List<Object> texts = new ArrayList<>();
        if (answer != null && answer.type() == ResponseType.MULTI) {
            answer.forEach(text -> texts.add(text.toString()));
        }
        return texts;
    }

    static Opening failed(RuntimeException error) {
        return new Opening(Future.failedFuture(error), Future::succeededFuture);
    }
}
