package io.github.reactivelock.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.github.reactivelock.lettuce.LettuceLockBackend;
import io.github.reactivelock.quorum.QuorumLockBackend;
import io.github.reactivelock.redis.RedisBackendOptions;
import io.github.reactivelock.redis.RedisFencingGuard;
import io.github.reactivelock.redis.RedisLockBackend;
import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.spi.QuorumNode;
import io.github.reactivelock.state.StaleTokenException;
import io.github.reactivelock.testservers.RedisCluster;
import io.github.reactivelock.testservers.RedisServer;
import io.github.reactivelock.vertx.VertxLockBackend;
import io.lettuce.core.RedisClient;
import io.lettuce.core.RedisCredentials;
import io.lettuce.core.RedisURI;
import io.lettuce.core.SslOptions;
import io.lettuce.core.StaticCredentialsProvider;
import io.vertx.core.Vertx;
import io.vertx.redis.client.Redis;
import io.vertx.redis.client.RedisClientType;
import io.vertx.redis.client.RedisOptions;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import reactor.core.publisher.Mono;

/**
 * What docs/security.md lets a Redis user do, and what the error tells one who may not, suffice for each way to
 * connect.
 */
class PermissionsTest {

    private static final Pattern PERMISSION = Pattern.compile("[+][a-z|]+");

    private static Vertx vertx;

    private final List<AutoCloseable> running = new ArrayList<>();
    private final List<RedisServer> servers = new ArrayList<>();

    /** The ways to connect, each with the row of the page that says what it needs besides. */
    enum Way {
        LETTUCE("") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                String uri = uri(test.servers(1).get(0));
                return () -> LettuceLockBackend.connect(uri);
            }
        },
        VERTX("") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                String uri = uri(test.servers(1).get(0));
                return () -> VertxLockBackend.connect(vertx, uri);
            }
        },
        LETTUCE_WITH_REPLICAS("`withReplicas`") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                String uri = uri(test.primaryAndReplica().get(0));
                return () -> LettuceLockBackend.connect(
                        uri, RedisBackendOptions.defaults().withReplicas(1, Duration.ofSeconds(10)));
            }
        },
        LETTUCE_PRIMARY("`connectPrimary`") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                List<String> uris =
                        test.primaryAndReplica().stream().map(Way::uri).toList();
                return () -> LettuceLockBackend.connectPrimary(uris);
            }
        },
        LETTUCE_CLUSTER("a cluster, Lettuce") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                List<String> uris = test.nodes().stream().map(Way::uri).toList();
                return () -> LettuceLockBackend.connectCluster(uris);
            }
        },
        LETTUCE_SHARDED("`withShardedChannels`") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                List<String> uris = test.nodes().stream().map(Way::uri).toList();
                return () -> LettuceLockBackend.connectCluster(
                        uris, RedisBackendOptions.defaults().withShardedChannels());
            }
        },
        VERTX_CLUSTER("a cluster, Vert.x") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                RedisOptions options = options(RedisClientType.CLUSTER, test.nodes());
                return () -> VertxLockBackend.connect(vertx, options);
            }
        },
        VERTX_REPLICATION("a primary of several, Vert.x") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                RedisOptions options = options(RedisClientType.REPLICATION, test.primaryAndReplica());
                return () -> VertxLockBackend.connect(vertx, options);
            }
        },
        LETTUCE_QUORUM("a node of a quorum") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                return test.quorum(server -> LettuceLockBackend.connect(uri(server)));
            }
        },
        VERTX_QUORUM("a node of a quorum") {
            @Override
            Supplier<LockBackend> on(PermissionsTest test) {
                return test.quorum(server -> VertxLockBackend.connect(vertx, uri(server)));
            }
        };

        private final String row;

        Way(String row) {
            this.row = row;
        }

        /** Starts what it needs and makes a backend of the user. */
        abstract Supplier<LockBackend> on(PermissionsTest test);

        private static String uri(RedisServer server) {
            return server.uri().replace("redis://", "redis://locks:pw@");
        }

        private static RedisOptions options(RedisClientType type, List<RedisServer> servers) {
            RedisOptions options = new RedisOptions().setType(type);
            servers.forEach(server -> options.addConnectionString(uri(server)));
            return options;
        }
    }

    @BeforeAll
    static void start() {
        vertx = Vertx.vertx();
    }

    @AfterAll
    static void stop() {
        Object unused = vertx.close().toCompletionStage().toCompletableFuture().join();
    }

    @AfterEach
    void end() throws Exception {
        for (AutoCloseable each : running) {
            each.close();
        }
    }

    @ParameterizedTest
    @EnumSource
    void whatThePageListsSufficesAndNothingElseIsAskedFor(Way way) {
        Supplier<LockBackend> backend = way.on(this);
        allow(Stream.of(page().base(), page().besides(way.row))
                .flatMap(List::stream)
                .toList());

        Everything.of(backend);

        assertThat(refused()).isSubsetOf(page().besides("nothing that works without"));
    }

    @ParameterizedTest
    @EnumSource(names = {"LETTUCE", "VERTX"})
    void theErrorOfAUserWhoMayDoNothingListsWhatThePageLists(Way way) {
        LockBackend backend = way.on(this).get();
        allow(List.of());

        String error = errorOf(backend.inspect("a"));
        backend.close().block(Lab.LIMIT);

        String[] parts = error.split("; besides, ", -1);
        assertThat(parts[0]).contains("ACL SETUSER locks " + String.join(" ", page().base()));
        assertThat(permissions(parts[1]))
                .containsExactlyInAnyOrderElementsOf(Stream.of(Way.values())
                        .flatMap(each -> page().besides(each.row).stream())
                        .collect(Collectors.toSet()));
    }

    @ParameterizedTest
    @EnumSource(names = {"LETTUCE", "VERTX"})
    void aGuardWritesWithThePagesPermissionsAndItsErrorListsThem(Way way) {
        LockBackend backend = way.on(this).get();
        RedisFencingGuard guard = ((RedisLockBackend) backend).fencingGuard();
        allow(List.of("+evalsha"));

        String error = errorOf(guard.write("orders", 7, "INCRBY", "5"));
        String row = page().row("a `fencingGuard()`, for each `KEY`").replace("KEY", "orders");
        String listed = row.substring(1, row.lastIndexOf('`')) + " +incrby";
        assertThat(error).contains("ACL SETUSER locks " + listed);
        allow(List.of(listed.split(" ", -1)));

        assertThat(guard.write("orders", 7, "INCRBY", "5").block(Lab.LIMIT)).isEqualTo("5");
        assertThatThrownBy(() -> guard.write("orders", 6, "INCRBY", "5").block(Lab.LIMIT))
                .isInstanceOf(StaleTokenException.class);
        assertThat(guard.writeShared("orders", 7, "INCRBY", "5").block(Lab.LIMIT))
                .isEqualTo("10");
        backend.close().block(Lab.LIMIT);
    }

    @Test
    void theErrorNamesTheUserOfAnApplicationsConnection() {
        RedisServer server = servers(1).get(0);
        allow(List.of());
        RedisURI uri = RedisURI.create(server.uri());
        RedisClient lettuce = RedisClient.create();
        running.add(lettuce);
        RedisOptions options = new RedisOptions()
                .setConnectionString(server.uri())
                .setUser("locks")
                .setPassword("pw");

        uri.setCredentialsProvider(() -> Mono.just(RedisCredentials.just("locks", "pw")));
        assertThat(errorAtOnce(LettuceLockBackend.using(lettuce, uri)))
                .contains("it needs ACL SETUSER, for the user that ACL WHOAMI names, with ~{");
        assertThat(errorAtOnce(LettuceLockBackend.connect(uri, SslOptions.create(), RedisBackendOptions.defaults())))
                .contains("it needs ACL SETUSER locks ~{");
        uri.setCredentialsProvider(new StaticCredentialsProvider(RedisCredentials.just("locks", "pw")));
        assertThat(errorAtOnce(LettuceLockBackend.using(lettuce, uri))).contains("it needs ACL SETUSER locks ~{");
        assertThat(errorAtOnce(VertxLockBackend.using(vertx, Redis.createClient(vertx, options), options)))
                .contains("it needs ACL SETUSER locks ~{");
    }

    private static String errorAtOnce(LockBackend backend) {
        String error = errorOf(backend.inspect("a"));
        backend.close().block(Lab.LIMIT);
        return error;
    }

    private static String errorOf(Mono<?> question) {
        return String.valueOf(catchThrowable(() -> question.block(Lab.LIMIT)).getMessage());
    }

    private static List<String> permissions(String text) {
        return PERMISSION
                .matcher(text)
                .results()
                .map(MatchResult::group)
                .distinct()
                .toList();
    }

    private List<RedisServer> servers(int count) {
        for (int i = 0; i < count; i++) {
            add(RedisServer.start());
        }
        return servers;
    }

    private List<RedisServer> primaryAndReplica() {
        RedisServer primary = servers(1).get(0);
        RedisServer replica = RedisServer.start(
                "--replicaof", "127.0.0.1", Integer.toString(primary.port()), "--repl-diskless-sync-delay", "0");
        add(replica);
        Lab.eventually(
                "the replica is in step",
                () -> String.valueOf(primary.command("INFO", "replication")).contains("state=online"));
        return servers;
    }

    private List<RedisServer> nodes() {
        RedisCluster cluster = RedisCluster.start(3, 0);
        running.add(cluster);
        servers.addAll(cluster.nodes());
        return servers;
    }

    private Supplier<LockBackend> quorum(Function<RedisServer, QuorumNode> node) {
        QuorumStore.untilTheyCount(servers(3), Client.LEASE);
        return () -> QuorumLockBackend.of(servers.stream().map(node).toArray(QuorumNode[]::new))
                .withLongestLease(Client.LEASE)
                .withNodeTimeout(Lab.LIMIT);
    }

    private void add(RedisServer server) {
        servers.add(server);
        running.add(server);
    }

    private void allow(List<String> permissions) {
        for (RedisServer server : servers) {
            List<String> command = new ArrayList<>(List.of("ACL", "SETUSER", "locks", "reset", "on", ">pw"));
            command.addAll(permissions);
            server.command(command.toArray(String[]::new));
            server.command("ACL", "LOG", "RESET");
        }
    }

    private static Page page() {
        try {
            return new Page(Files.readAllLines(Path.of("..", "docs", "security.md")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private record Page(List<String> lines) {

        /** What the command that it shows allows. */
        List<String> base() {
            List<String> words = List.of(beginningWith("ACL SETUSER ").split(" ", -1));
            return words.subList(words.indexOf("-@all") + 1, words.size());
        }

        /** The permissions of a row; none of no row. */
        List<String> besides(String row) {
            return row.isEmpty() ? List.of() : permissions(row(row));
        }

        String row(String row) {
            String beginning = "| " + row + " | ";
            return beginningWith(beginning).substring(beginning.length()).replace("\\|", "|");
        }

        private String beginningWith(String beginning) {
            return lines.stream()
                    .filter(line -> line.startsWith(beginning))
                    .findFirst()
                    .orElseThrow();
        }
    }

    /** The commands, keys and channels that the servers refused, as permissions of commands are written. */
    private Set<String> refused() {
        Set<String> refused = new TreeSet<>();
        for (RedisServer server : servers) {
            for (Object entry : (List<?>) server.command("ACL", "LOG")) {
                List<?> fields = (List<?>) entry;
                refused.add("+" + fields.get(fields.indexOf("object") + 1));
            }
        }
        return refused;
    }
}
