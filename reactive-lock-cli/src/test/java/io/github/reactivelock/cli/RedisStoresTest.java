package io.github.reactivelock.cli;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisSentinel;
import io.github.reactivelock.testservers.RedisServer;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Nested;

/** Every command on each form of Redis. */
class RedisStoresTest {

    @Nested
    class OneServer extends StoreCases {
        private RedisServer server;

        @Override
        void open() {
            server = RedisServer.start();
        }

        @Override
        void close() {
            server.close();
        }

        @Override
        List<String> urls() {
            return List.of(server.uri());
        }

        @Override
        LockBackend backend() {
            return LettuceLockBackend.connect(server.uri());
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }

    @Nested
    class Sentinel extends StoreCases {
        private RedisSentinel set;

        @Override
        void open() {
            set = RedisSentinel.start(1);
        }

        @Override
        void close() {
            set.close();
        }

        @Override
        List<String> urls() {
            return List.of(set.uri());
        }

        @Override
        LockBackend backend() {
            return LettuceLockBackend.connect(set.uri());
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }

    @Nested
    class PrimaryAmongReplicas extends StoreCases {
        private RedisServer primary;
        private RedisServer replica;

        @Override
        void open() {
            primary = RedisServer.start();
            replica = RedisServer.start("--replicaof", "127.0.0.1", "" + primary.port());
        }

        @Override
        void close() {
            replica.close();
            primary.close();
        }

        @Override
        List<String> urls() {
            return List.of("redis-primary://127.0.0.1:" + replica.port() + ",127.0.0.1:" + primary.port());
        }

        @Override
        LockBackend backend() {
            return LettuceLockBackend.connect(primary.uri());
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }

    @Nested
    class Cluster extends StoreCases {
        private RedisCluster cluster;

        @Override
        void open() {
            cluster = RedisCluster.start(3, 0);
        }

        @Override
        void close() {
            cluster.close();
        }

        @Override
        List<String> urls() {
            List<String> hosts = cluster.uris().stream()
                    .map(uri -> uri.replace("redis://", ""))
                    .toList();
            return List.of("redis-cluster://" + String.join(",", hosts));
        }

        @Override
        LockBackend backend() {
            return LettuceLockBackend.connectCluster(cluster.uris());
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }

    @Nested
    class Quorum extends StoreCases {
        private List<RedisServer> servers;

        @Override
        void open() {
            servers = Stream.generate(RedisServer::start).limit(3).toList();
        }

        @Override
        void close() {
            servers.forEach(RedisServer::close);
        }

        @Override
        List<String> urls() {
            return servers.stream().map(RedisServer::uri).toList();
        }

        @Override
        LockBackend backend() {
            return QuorumLockBackend.of(servers.stream()
                            .map(server -> LettuceLockBackend.connect(server.uri()))
                            .toArray(QuorumNode[]::new))
                    .withNodeTimeout(Duration.ofSeconds(5))
                    // A server counts when it has been up for that long.
                    .withLongestLease(LEASE);
        }

        @Override
        boolean knowsAges() {
            return true;
        }
    }
}
