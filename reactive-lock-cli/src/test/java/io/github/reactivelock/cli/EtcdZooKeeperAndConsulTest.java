package io.github.reactivelock.cli;

import io.etcd.jetcd.Client;
import io.github.reactivelock.consul.ConsulBackendOptions;
import io.github.reactivelock.consul.ConsulLockBackend;
import io.github.reactivelock.etcd.EtcdBackendOptions;
import io.github.reactivelock.etcd.EtcdLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.ConsulServer;
import io.github.reactivelock.testservers.EtcdServer;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import java.time.Duration;
import java.util.List;
import org.apache.curator.test.TestingServer;
import org.junit.jupiter.api.Nested;

/** Every command on etcd, on ZooKeeper and on Consul. */
class EtcdZooKeeperAndConsulTest {

    private static final Duration PATIENCE = Duration.ofSeconds(40);

    @Nested
    class Etcd extends StoreCases {
        private EtcdServer server;

        @Override
        void open() {
            server = EtcdServer.start();
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
            return EtcdLockBackend.connect(
                    Client.builder().endpoints(server.uri()),
                    EtcdBackendOptions.defaults().withCommandTimeout(PATIENCE));
        }

        @Override
        boolean knowsAges() {
            return false;
        }
    }

    @Nested
    class ZooKeeper extends StoreCases {
        private TestingServer server;

        @Override
        void open() throws Exception {
            server = new TestingServer();
        }

        @Override
        void close() throws Exception {
            server.close();
        }

        @Override
        List<String> urls() {
            return List.of("zookeeper://" + server.getConnectString());
        }

        @Override
        List<String> nowhere() {
            return List.of("zookeeper://127.0.0.1:1");
        }

        @Override
        LockBackend backend() {
            return ZooKeeperLockBackend.connect(
                    server.getConnectString(),
                    ZooKeeperBackendOptions.defaults().withCommandTimeout(PATIENCE));
        }

        @Override
        boolean knowsAges() {
            return false;
        }
    }

    @Nested
    class Consul extends StoreCases {
        private ConsulServer server;

        @Override
        void open() {
            server = ConsulServer.start();
        }

        @Override
        void close() {
            server.close();
        }

        @Override
        List<String> urls() {
            return List.of(server.uri().replace("http:", "consul:"));
        }

        @Override
        LockBackend backend() {
            return ConsulLockBackend.connect(
                    server.uri(), ConsulBackendOptions.defaults().withCommandTimeout(PATIENCE));
        }

        @Override
        boolean knowsAges() {
            return false;
        }
    }
}
