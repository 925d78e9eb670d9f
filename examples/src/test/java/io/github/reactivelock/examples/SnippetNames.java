package io.github.reactivelock.examples;

import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockListener;
import io.github.reactivelock.blocking.BlockingLockClient;
import io.github.reactivelock.election.LeaderElection;
import io.github.reactivelock.r2dbc.Once;
import io.github.reactivelock.r2dbc.RowLocks;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.vertx.VertxLockClient;
import io.lettuce.core.RedisCredentialsProvider;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import io.r2dbc.spi.Connection;
import io.r2dbc.spi.ConnectionFactory;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.File;
import java.io.IOException;
import org.apache.curator.framework.CuratorFramework;
import org.redisson.api.RedissonClient;
import org.springframework.integration.support.locks.LockRegistry;
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
    protected static BlockingLockClient blocking;
    protected static VertxLockClient locks;
    protected static Order order;
    protected static String secret;
    protected static long fencingToken;

    protected static Vertx vertx;
    protected static QuorumNode nodeA;
    protected static QuorumNode nodeB;
    protected static QuorumNode nodeC;
    protected static QuorumNode nodeD;
    protected static QuorumNode nodeE;
    protected static Client client;
    protected static ByteSequence orderKey;
    protected static ByteSequence paid;
    protected static RedisCredentialsProvider tokens;
    protected static File certificate;
    protected static CuratorFramework yourCuratorFramework;
    protected static RedissonClient redisson;
    protected static LockRegistry<?> registry;
    protected static ConnectionFactory yourPool;
    protected static String yourSession;
    protected static DatabaseClient databaseClient;
    protected static TransactionalOperator operator;
    protected static Once once;
    protected static RowLocks rows;
    protected static LockListener metrics;
    protected static LeaderElection billing;
    protected static MeterRegistry meterRegistry;
    protected static ObservationRegistry observationRegistry;

    protected abstract Mono<Receipt> charge(Order order);

    protected abstract Mono<Receipt> charge(Order order, long fencingToken);

    protected abstract Receipt chargeNow(Order order, long fencingToken);

    protected abstract void shipNow(Order order) throws IOException;

    protected abstract Future<Receipt> chargeLater(Order order);

    protected abstract Future<Receipt> chargeLater(Order order, long fencingToken);

    protected abstract Flux<Line> print(Order order);

    protected abstract Mono<Parcel> pick(Order order);

    protected abstract Mono<Void> ship(Parcel parcel);

    protected abstract Mono<Void> write(Order order);

    protected abstract Mono<Long> spend(Connection connection, long amount);

    protected abstract Mono<Void> spend(DatabaseClient client);
}
