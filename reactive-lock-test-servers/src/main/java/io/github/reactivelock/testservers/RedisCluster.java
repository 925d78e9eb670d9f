package io.github.reactivelock.testservers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

/**
 * A real Redis Cluster on free ports of 127.0.0.1, for tests: primaries that share the slots evenly, each with its
 * replicas. Its nodes declare one another dead after {@link #NODE_TIMEOUT}. It ends with this JVM at the latest. The
 * methods block; they are for test threads.
 */
public final class RedisCluster implements AutoCloseable {

    /** The silence after which a node counts as dead. */
    public static final Duration NODE_TIMEOUT = Duration.ofMillis(1500);

    private static final int SLOTS = 16_384;

    private final List<RedisServer> nodes = new ArrayList<>();
    private final List<String> ids = new ArrayList<>();

    private RedisCluster(int size, List<String> config) {
        for (int i = 0; i < size; i++) {
            List<String> options = new ArrayList<>(List.of("--cluster-enabled", "yes"));
            options.addAll(List.of("--cluster-node-timeout", Long.toString(NODE_TIMEOUT.toMillis())));
            options.addAll(List.of("--cluster-replica-validity-factor", "0"));
            options.addAll(List.of("--cluster-migration-barrier", "100"));
            options.addAll(config);
            RedisServer node = RedisServer.member(Scratch.directory("redis"), Loopback.freePortWithBus(), options);
            nodes.add(node);
            failover(node, false);
            ids.add((String) Objects.requireNonNull(node.command("CLUSTER", "MYID")));
        }
    }

    /**
     * Starts a cluster.
     *
     * @param primaries how many nodes have slots
     * @param replicas how many replicas each of them has
     * @param config further settings of every node, as on its command line
     * @return a cluster that serves every slot
     */
    public static RedisCluster start(int primaries, int replicas, String... config) {
        RedisCluster cluster = new RedisCluster(primaries * (1 + replicas), List.of(config));
        try {
            cluster.form(primaries);
            return cluster;
        } catch (RuntimeException | Error e) {
            cluster.close();
            throw e;
        }
    }

    /**
     * All nodes, in the order of their start: those that began as primaries first.
     *
     * @return running nodes and others
     */
    public List<RedisServer> nodes() {
        return List.copyOf(nodes);
    }

    /**
     * Addresses of all nodes.
     *
     * @return {@code redis://} URIs
     */
    public List<String> uris() {
        return nodes.stream().map(RedisServer::uri).toList();
    }

    /**
     * The slot of a key.
     *
     * @param key the key's name in Redis
     * @return 0 to 16,383
     */
    public int slot(String key) {
        return Math.toIntExact((Long) Objects.requireNonNull(running().command("CLUSTER", "KEYSLOT", key)));
    }

    /**
     * The node that serves a slot, as a running node sees it.
     *
     * @param slot 0 to 16,383
     * @return its primary
     */
    public RedisServer primary(int slot) {
        return primary(slot, running());
    }

    private RedisServer primary(int slot, RedisServer asked) {
        for (Object part : (List<?>) Objects.requireNonNull(asked.command("CLUSTER", "SLOTS"))) {
            List<?> range = (List<?>) part;
            if ((Long) range.get(0) <= slot && slot <= (Long) range.get(1)) {
                return node((String) Objects.requireNonNull(((List<?>) range.get(2)).get(2)));
            }
        }
        throw new IllegalStateException("no node serves slot " + slot);
    }

    /**
     * Begins to move a slot: from now on its keys may be at either node, and keys it does not have are made at the new
     * one.
     *
     * @param slot 0 to 16,383
     * @param to one of the other primaries
     */
    public void beginMove(int slot, RedisServer to) {
        RedisServer from = primary(slot);
        to.command("CLUSTER", "SETSLOT", Integer.toString(slot), "IMPORTING", id(from));
        from.command("CLUSTER", "SETSLOT", Integer.toString(slot), "MIGRATING", id(to));
    }

    /**
     * Moves all keys of a slot whose move has begun, and waits until every running node knows.
     *
     * @param slot 0 to 16,383
     * @param to as in {@link #beginMove}
     */
    public void finishMove(int slot, RedisServer to) {
        RedisServer from = primary(slot);
        String number = Integer.toString(slot);
        while (true) {
            List<?> keys = (List<?>) Objects.requireNonNull(from.command("CLUSTER", "GETKEYSINSLOT", number, "100"));
            if (keys.isEmpty()) {
                break;
            }
            List<String> command = new ArrayList<>(
                    List.of("MIGRATE", "127.0.0.1", Integer.toString(to.port()), "", "0", "15000", "KEYS"));
            keys.forEach(key -> command.add((String) key));
            from.command(command.toArray(String[]::new));
        }
        to.command("CLUSTER", "SETSLOT", number, "NODE", id(to));
        from.command("CLUSTER", "SETSLOT", number, "NODE", id(to));
        Pause.until(
                "every running node knows of the move",
                () -> nodes.stream().filter(RedisServer::isRunning).allMatch(node -> primary(slot, node) == to));
    }

    /** Ends all nodes. */
    @Override
    public void close() {
        nodes.forEach(RedisServer::close);
    }

    private void form(int primaries) {
        for (int i = 0; i < nodes.size(); i++) {
            nodes.get(i).command("CLUSTER", "SET-CONFIG-EPOCH", Integer.toString(i + 1));
            if (i < primaries) {
                addSlots(nodes.get(i), i * SLOTS / primaries, (i + 1) * SLOTS / primaries);
            }
            for (int j = 0; j < i; j++) {
                nodes.get(i)
                        .command(
                                "CLUSTER",
                                "MEET",
                                "127.0.0.1",
                                Integer.toString(nodes.get(j).port()));
            }
        }
        Pause.until(
                "every node knows every other",
                () -> nodes.stream()
                        .allMatch(node -> info(node).contains("cluster_known_nodes:" + nodes.size() + "\r\n")));
        for (int i = primaries; i < nodes.size(); i++) {
            nodes.get(i).command("CLUSTER", "REPLICATE", ids.get(i % primaries));
        }
        Pause.until("the cluster serves every slot", () -> nodes.stream().allMatch(this::isReady));
        nodes.forEach(node -> failover(node, true));
    }

    /** While a cluster forms, a node that writes its configuration to a slow disk is silent, and must keep its role. */
    private static void failover(RedisServer node, boolean isAllowed) {
        node.command("CONFIG", "SET", "cluster-replica-no-failover", isAllowed ? "no" : "yes");
    }

    private boolean isReady(RedisServer node) {
        boolean covered = info(node).contains("cluster_state:ok\r\n");
        List<?> role = (List<?>) Objects.requireNonNull(node.command("ROLE"));
        boolean isReplica = nodes.indexOf(node) >= primaries();
        boolean inRole = isReplica ? role.contains("slave") && role.contains("connected") : role.contains("master");
        return covered && inRole && slaves(node) == nodes.size() - primaries();
    }

    private int primaries() {
        return Math.toIntExact(((List<?>) Objects.requireNonNull(nodes.get(0).command("CLUSTER", "SLOTS"))).size());
    }

    /** How many replicas a node knows of. */
    private static long slaves(RedisServer node) {
        return String.valueOf(node.command("CLUSTER", "NODES"))
                .lines()
                .filter(line -> line.contains("slave"))
                .count();
    }

    private static void addSlots(RedisServer node, int from, int to) {
        List<String> command = new ArrayList<>(List.of("CLUSTER", "ADDSLOTS"));
        IntStream.range(from, to).forEach(slot -> command.add(Integer.toString(slot)));
        node.command(command.toArray(String[]::new));
    }

    private static String info(RedisServer node) {
        return String.valueOf(node.command("CLUSTER", "INFO"));
    }

    private RedisServer running() {
        return nodes.stream()
                .filter(RedisServer::isRunning)
                .findFirst()
                .orElseThrow(() -> new IllegalStateException("no node runs"));
    }

    private RedisServer node(String id) {
        return nodes.get(ids.indexOf(id));
    }

    private String id(RedisServer node) {
        return ids.get(nodes.indexOf(node));
    }
}
