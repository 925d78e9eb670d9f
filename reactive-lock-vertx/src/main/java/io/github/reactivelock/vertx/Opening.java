package io.github.reactivelock.vertx;

import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Command;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisConnection;
import io.vertx.redis.client.RedisOptions;
import io.vertx.redis.client.Request;
import java.util.function.Supplier;

/**
 * A connection on its way.
 *
 * @param connection the connection, once it is open
 * @param close gets rid of it, also before it is open
 */
record Opening(Future<RedisConnection> connection, Supplier<Future<Void>> close) {

    /** A client for this connection alone, so that closing it leaves no socket in a pool. */
    static Opening ofOwnClient(Vertx vertx, RedisOptions options) {
        Redis client = clientFor(vertx, options);
        return new Opening(client.connect().compose(Opening::checked), client::close);
    }

    private static Redis clientFor(Vertx vertx, RedisOptions options) {
        return Redis.createClient(vertx, options);
    }

    /** A connection from the application's client, which gets it back. */
    static Opening from(Redis client) {
        Future<RedisConnection> connection = client.connect();
        return new Opening(connection.compose(Opening::checked), () -> connection.compose(RedisConnection::close));
    }

    // Without a password the client connects, and only the first command shows that the server needs one. The server's
    // answer to a long command is hard to understand.
    private static Future<RedisConnection> checked(RedisConnection connection) {
        return connection
                .send(Request.cmd(Command.PING))
                .transform((pong, error) ->
                        error != null && String.valueOf(error.getMessage()).startsWith("NOAUTH")
                                ? Future.failedFuture(error)
                                : Future.succeededFuture(connection));
    }

    static Opening failed(RuntimeException error) {
        return new Opening(Future.failedFuture(error), Future::succeededFuture);
    }
}
