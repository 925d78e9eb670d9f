package io.github.reactivelock.faults;

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
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;

/**
 * Makes backends of all kinds. The first word of an address says which: {@code redis} is Lettuce, {@code vertx} the
 * Redis client of Vert.x, {@code cluster} and {@code quorum} several Redis through Lettuce; the others are called what
 * they are. Closing it ends what its backends borrowed, so they have to be closed before.
 */
final class Backends implements AutoCloseable {

    /** A hold is relied upon for half of it, and that is to be our lease. */
    static final Duration SESSION = Client.LEASE.multipliedBy(2);

    /** Its nodes count when they have been up for so long. */
    static final Duration LONGEST_OF_QUORUM = Client.LEASE.multipliedBy(3);

    private static final String CONSUL = "consul";

    /** Consul keeps no session that is shorter. */
    private static final Duration CONSUL_LEASE = Duration.ofSeconds(10);

    private final Queue<Vertx> lent = new ConcurrentLinkedQueue<>();

    /** The lease of the holds at a store: short, so that faults outlast it soon. */
    static Duration lease(String address) {
        return address.startsWith(CONSUL + ":") ? CONSUL_LEASE : Client.LEASE;
    }

    /** A backend that connects when it is used. */
    LockBackend connect(String address) {
        String word = address.substring(0, address.indexOf(':'));
        String rest = address.substring(word.length() + 1);
        return switch (word) {
            case "redis" -> LettuceLockBackend.connect(address);
            case "vertx" -> VertxLockBackend.connect(vertx(), rest);
            case "cluster" -> LettuceLockBackend.connectCluster(List.of(rest.split(",", -1)));
            case "quorum" -> quorum(rest.split(",", -1));
            case "r2dbc" -> R2dbcLockBackend.connect(address);
            case "etcd" -> EtcdLockBackend.connect(rest.split(",", -1));
            case "zookeeper" ->
                ZooKeeperLockBackend.connect(
                        rest, ZooKeeperBackendOptions.defaults().withSessionTimeout(SESSION));
            case CONSUL -> consul(rest, CONSUL_LEASE);
            default -> throw new IllegalArgumentException("no backend is called '" + word + "', in " + address);
        };
    }

    /** A hold is relied upon for the session's TTL at most. */
    static LockBackend consul(String agents, Duration lease) {
        return ConsulLockBackend.connect(agents, ConsulBackendOptions.defaults().withSessionTtl(lease));
    }

    private static LockBackend quorum(String... addresses) {
        QuorumNode[] nodes =
                Stream.of(addresses).map(LettuceLockBackend::connect).toArray(QuorumNode[]::new);
        return QuorumLockBackend.of(nodes).withLongestLease(LONGEST_OF_QUORUM).withNodeTimeout(Duration.ofMillis(750));
    }

    private Vertx vertx() {
        Vertx vertx = Vertx.vertx();
        lent.add(vertx);
        return vertx;
    }

    @Override
    public void close() {
        for (Vertx vertx : lent) {
            try {
                vertx.close().toCompletionStage().toCompletableFuture().get(10, TimeUnit.SECONDS);
            } catch (ExecutionException | TimeoutException e) {
                throw new IllegalStateException("Vert.x does not end", e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
        lent.clear();
    }
}
