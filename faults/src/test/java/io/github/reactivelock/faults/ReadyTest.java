package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.reactivelock.LockClient;
import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.RedisServer;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What answers questions and would grant no lock is not ready: a Redis that takes no writes, or has too few replicas.
 */
class ReadyTest {

    private static final String MARK = "{reactivelock:reactive-lock-ready}";

    @ParameterizedTest
    @ValueSource(strings = {"redis", "vertx:redis"})
    void aServerThatTakesNoWritesIsNotReadyAndSaysWhy(String kind) throws IOException {
        try (RedisServer server = RedisServer.start("--repl-diskless-sync-delay", "0");
                Backends backends = new Backends()) {
            LockClient lock = client(backends.connect(kind + "://127.0.0.1:" + server.port()));
            lock.ready().block(Lab.LIMIT);
            assertThat(server.command("DBSIZE")).isEqualTo(0L);

            server.command("CONFIG", "SET", "min-replicas-to-write", "1");
            refused(lock, "NOREPLICAS");
            server.command("CONFIG", "SET", "min-replicas-to-write", "0");

            server.command("CONFIG", "SET", "maxmemory", "1");
            refused(lock, "OOM");
            server.command("CONFIG", "SET", "maxmemory", "0");

            failToSave(server);
            refused(lock, "MISCONF");
            server.command("CONFIG", "SET", "save", "");
            lock.ready().block(Lab.LIMIT);

            server.command("SET", "of the application", "x");
            server.command("REPLICAOF", "127.0.0.1", "1");
            refused(lock, "read-only replica");
            server.command("REPLICAOF", "NO", "ONE");
            lock.ready().block(Lab.LIMIT);
            assertThat(server.command("DBSIZE")).isEqualTo(1L);
            lock.close().block(Lab.LIMIT);
        }
    }

    @Test
    void aServerWithoutTheReplicasThatHaveToAcknowledgeIsNotReady() {
        try (RedisServer server = RedisServer.start("--repl-diskless-sync-delay", "0")) {
            LockClient lock = client(LettuceLockBackend.connect(
                    server.uri(), RedisBackendOptions.defaults().withReplicas(1, Duration.ofSeconds(1))));
            refused(lock, "0 of the 1 replicas");

            try (RedisServer replica = RedisServer.start("--replicaof", "127.0.0.1", Integer.toString(server.port()))) {
                Lab.eventually(
                        "both know that the replica is in step",
                        () -> String.valueOf(replica.command("ROLE")).contains("connected")
                                && String.valueOf(server.command("INFO", "replication"))
                                        .contains("state=online"));
                lock.ready().block(Lab.LIMIT);
            }

            Lab.eventually(
                    "the replica is gone",
                    () -> String.valueOf(server.command("INFO", "replication")).contains("connected_slaves:0"));
            refused(lock, "0 of the 1 replicas");
            lock.close().block(Lab.LIMIT);
        }
    }

    @Test
    void aQuorumIsReadyIfAMajorityOfItsNodesIs() {
        List<RedisServer> servers = Stream.generate(RedisServer::start).limit(3).toList();
        LockClient lock = client(QuorumLockBackend.of(servers.stream()
                .map(server -> LettuceLockBackend.connect(server.uri()))
                .toArray(LettuceLockBackend[]::new)));
        try {
            servers.get(0).command("CONFIG", "SET", "maxmemory", "1");
            lock.ready().block(Lab.LIMIT);

            servers.get(1).command("CONFIG", "SET", "maxmemory", "1");
            refused(lock, "2 of 3 nodes cannot grant locks");
        } finally {
            lock.close().block(Lab.LIMIT);
            servers.forEach(RedisServer::close);
        }
    }

    /** A lock of that name is not touched, held or waited for. */
    @Test
    void whatIsAskedChangesNothing() {
        try (RedisServer server = RedisServer.start()) {
            LockClient lock = client(LettuceLockBackend.connect(server.uri()));
            LockClient other = client(LettuceLockBackend.connect(server.uri()));
            assertThat(lock.acquire("reactive-lock-ready").block(Lab.LIMIT)).isNotNull();
            var waiting = other.acquire("reactive-lock-ready").toFuture();
            Lab.eventually(
                    "one waits and is known to listen",
                    () -> String.valueOf(server.command("HVALS", MARK + ":waiters"))
                            .matches("\\[\\d+ 0.*"));
            Object before = state(server);

            lock.ready().block(Lab.LIMIT);

            assertThat(state(server)).isEqualTo(before);
            lock.close().block(Lab.LIMIT);
            assertThat(waiting.join().isHeld()).isTrue();
            other.close().block(Lab.LIMIT);
        }
    }

    private static List<Object> state(RedisServer server) {
        return List.of(
                server.command("GET", MARK),
                server.command("ZRANGE", MARK + ":queue", "0", "-1", "WITHSCORES"),
                server.command("HGETALL", MARK + ":waiters"));
    }

    /** The file to save to is a directory. */
    private static void failToSave(RedisServer server) throws IOException {
        Files.createDirectory(server.directory().resolve("dump.rdb"));
        server.command("CONFIG", "SET", "save", "3600 1");
        server.command("BGSAVE");
        Lab.eventually(
                "saving has failed",
                () -> String.valueOf(server.command("INFO", "persistence")).contains("rdb_last_bgsave_status:err"));
    }

    private static LockClient client(LockBackend backend) {
        return LockClient.builder(backend).commandTimeout(Duration.ofSeconds(5)).build();
    }

    private static void refused(LockClient lock, String why) {
        assertThatThrownBy(() -> lock.ready().block(Lab.LIMIT))
                .isInstanceOf(LockUnavailableException.class)
                .hasMessageContaining("not ready")
                .hasMessageContaining(why);
    }
}
