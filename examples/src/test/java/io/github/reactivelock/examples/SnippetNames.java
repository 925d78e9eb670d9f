package io.github.reactivelock.examples;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.r2dbc.Once;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.vertx.VertxLockClient;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.util.function.Function;
import org.apache.curator.framework.CuratorFramework;
import org.springframework.r2dbc.core.DatabaseClient;
import org.springframework.transaction.reactive.TransactionalOperator;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** What the snippets of the documents use without saying where it comes from. Only compiled against. */
public abstract class SnippetNames {

    /** What is worked on. */
    public interface Order {}

    /** What charging leaves behind. */
    public interface Receipt {}

    /** What picking leaves behind. */
    public interface Parcel {}

    /** What printing emits. */
    public interface Line {}

    protected static LockClient lock;
    protected static LockBackend backend;
    protected static VertxLockClient locks;
    protected static Order order;
    protected static String secret;

    protected static Vertx vertx;
    protected static QuorumNode nodeA;
    protected static QuorumNode nodeB;
    protected static QuorumNode nodeC;
    protected static Client client;
    protected static ByteSequence orderKey;
    protected static ByteSequence paid;
    protected static CuratorFramework yourCuratorFramework;
    protected static ConnectionFactory yourPool;
    protected static DatabaseClient databaseClient;
    protected static TransactionalOperator operator;
    protected static Once once;

    protected static Mono<Receipt> charge(Order order) {
        throw new UnsupportedOperationException("" + order);
    }

    protected static Mono<Receipt> charge(Order order, long fencingToken) {
        throw new UnsupportedOperationException("" + order + fencingToken);
    }

    protected static Future<Receipt> chargeLater(Order order) {
        throw new UnsupportedOperationException("" + order);
    }

    protected static Future<Receipt> chargeLater(Order order, long fencingToken) {
        throw new UnsupportedOperationException("" + order + fencingToken);
    }

    protected static Flux<Line> print(Order order) {
        throw new UnsupportedOperationException("" + order);
    }

    protected static Mono<Parcel> pick(Order order) {
        throw new UnsupportedOperationException("" + order);
    }

    protected static Mono<Void> ship(Parcel parcel) {
        throw new UnsupportedOperationException("" + parcel);
    }

    protected static Mono<Void> write(Order order) {
        throw new UnsupportedOperationException("" + order);
    }

    protected static Mono<Void> write(Connection connection) {
        throw new UnsupportedOperationException("" + connection);
    }

    protected static <T> Mono<T> inTransaction(Function<Connection, Mono<T>> work) {
        throw new UnsupportedOperationException("" + work);
    }

    protected static Mono<Long> spend(Connection connection, long amount) {
        throw new UnsupportedOperationException("" + connection + amount);
    }

    protected static Mono<Void> spend(DatabaseClient client) {
        throw new UnsupportedOperationException("" + client);
    }
}
