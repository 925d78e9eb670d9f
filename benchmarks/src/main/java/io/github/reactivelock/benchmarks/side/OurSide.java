package io.github.reactivelock.benchmarks.side;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockClientBuilder;
import io.github.reactivelock.LockOptions;
import io.github.reactivelock.consul.ConsulBackendOptions;
import io.github.reactivelock.consul.ConsulLockBackend;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.r2dbc.R2dbcLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.vertx.VertxLockBackend;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.function.UnaryOperator;
import java.util.stream.Stream;
import reactor.core.publisher.Mono;

/** This library. */
final class OurSide implements Side {

    /** Sixteen processes that start at once on two processors take long. */
    private static final Duration PATIENCE = Duration.ofSeconds(20);

    private static final Duration QUORUM_LEASE = Duration.ofSeconds(5);

    private final LockClient lock;
    private final Duration busy;

    private OurSide(LockBackend backend, Duration busy, UnaryOperator<LockClientBuilder> settings) {
        this.busy = busy;
        LockClientBuilder patient = LockClient.builder(backend).commandTimeout(PATIENCE);
        this.lock = settings.apply(patient).build();
    }

    static Side redis(String uri, UnaryOperator<LockClientBuilder> settings) {
        return new OurSide(LettuceLockBackend.connect(uri), Duration.ZERO, settings);
    }

    static Side vertx(String uri) {
        return new OurSide(VertxLockBackend.connect(Vertx.vertx(), uri), Duration.ZERO, ours -> ours);
    }

    /**
     * Its servers have just started, and count only once they have been up for a lease: so the lease is a short one.
     */
    static Side quorum(String uris) {
        QuorumNode[] nodes =
                Stream.of(uris.split(",", -1)).map(LettuceLockBackend::connect).toArray(QuorumNode[]::new);
        return new OurSide(
                QuorumLockBackend.of(nodes).withLongestLease(QUORUM_LEASE),
                Duration.ZERO,
                ours -> ours.options(LockOptions.defaults().withLease(QUORUM_LEASE)));
    }

    /** Holders are busy for a millisecond. */
    static Side busy(String uri, Duration budget) {
        return new OurSide(
                LettuceLockBackend.connect(uri), Duration.ofMillis(1), ours -> ours.passBudget(1_000, budget));
    }

    static Side zooKeeper(String uri, UnaryOperator<LockClientBuilder> settings) {
        ZooKeeperBackendOptions patient = ZooKeeperBackendOptions.defaults().withCommandTimeout(PATIENCE);
        return new OurSide(ZooKeeperLockBackend.connect(uri, patient), Duration.ZERO, settings);
    }

    static Side etcd(String uri, UnaryOperator<LockClientBuilder> settings) {
        return new OurSide(EtcdLockBackend.connect(uri), Duration.ZERO, settings);
    }

    static Side consul(String uri, UnaryOperator<LockClientBuilder> settings) {
        ConsulBackendOptions patient = ConsulBackendOptions.defaults().withCommandTimeout(PATIENCE);
        return new OurSide(ConsulLockBackend.connect(uri, patient), Duration.ZERO, settings);
    }

    static Side sql(String uri, UnaryOperator<LockClientBuilder> settings) {
        return new OurSide(R2dbcLockBackend.connect(uri), Duration.ZERO, settings);
    }

    /** The same, whose holders are busy. */
    static Side sql(String uri, Duration busy) {
        return new OurSide(R2dbcLockBackend.connect(uri), busy, ours -> ours);
    }

    @Override
    public void cycle(String key, long flow, Cycle cycle) {
        lock.withLock(key, held -> {
                    cycle.entered();
                    return busy.isZero() ? Mono.empty() : Mono.delay(busy);
                })
                .subscribe(nothing -> {}, cycle::ended, () -> cycle.ended(null));
    }

    @Override
    public void hold(String key, long flow, Cycle cycle) {
        lock.acquire(key).subscribe(handle -> cycle.entered(), cycle::ended);
    }

    @Override
    public void close() {
        lock.close().block();
    }
}
