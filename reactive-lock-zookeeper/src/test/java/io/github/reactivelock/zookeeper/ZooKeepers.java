package io.github.reactivelock.zookeeper;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.reactivelock.LockUnavailableException;
import io.github.reactivelock.testservers.Pause;
import java.lang.management.ManagementFactory;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import javax.management.JMException;
import javax.management.MBeanServer;
import javax.management.ObjectName;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.apache.curator.x.async.AsyncCuratorFramework;
import org.apache.zookeeper.KeeperException;
import org.apache.zookeeper.Watcher.Event.KeeperState;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.Stat;
import org.apache.zookeeper.server.ServerMetrics;
import reactor.core.publisher.Mono;
import reactor.util.retry.Retry;

/** What tests ask ZooKeeper itself, and how they wait. */
final class ZooKeepers {

    static final Duration LIMIT = Duration.ofSeconds(60);

    private ZooKeepers() {}

    /** A client of the application, connected. */
    static CuratorFramework client(String connectString) {
        return client(connectString, 15_000);
    }

    /** For so many milliseconds without a connection it goes on trying to send what is asked. */
    static CuratorFramework client(String connectString, int patience) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(connectString)
                .sessionTimeoutMs(20_000)
                .connectionTimeoutMs(patience)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false)
                .build();
        client.start();
        try {
            assertThat(client.blockUntilConnected(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return client;
    }

    @Fixture.CanIgnoreReturnValue
    static <T> T get(CompletableFuture<T> answer) {
        try {
            return answer.get(LIMIT.toSeconds(), TimeUnit.SECONDS);
        } catch (Exception e) {
            throw new AssertionError("no good answer", e);
        }
    }

    @Fixture.CanIgnoreReturnValue
    static <T> T get(Mono<T> answer) {
        return answer.block(LIMIT);
    }

    /** For what a busy machine makes fail: asked again until the store has answered in time. */
    static <T> Mono<T> patiently(Mono<T> question) {
        return question.retryWhen(
                Retry.fixedDelay(100, Duration.ofMillis(200)).filter(LockUnavailableException.class::isInstance));
    }

    static Throwable error(Mono<?> answer) {
        return answer.<Throwable>flatMap(value -> Mono.error(new AssertionError("no error but " + value)))
                .switchIfEmpty(Mono.error(new AssertionError("no error but empty")))
                .onErrorResume(Mono::just)
                .block(LIMIT);
    }

    static void until(String what, BooleanSupplier isSo) {
        Pause.until(what, LIMIT, isSo);
    }

    static boolean works(CuratorFramework client) {
        return stat(client, "/") != null;
    }

    static Stat stat(CuratorFramework client, String path) {
        try {
            return client.checkExists().forPath(path);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    static List<String> children(CuratorFramework client, String path) {
        try {
            return client.getChildren().forPath(path);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** The paths of all claims, first come first. */
    static List<String> claims(CuratorFramework client) {
        List<SequenceNode> places = new ArrayList<>();
        List<String> paths = new ArrayList<>();
        for (String lock : children(client, "/reactivelock")) {
            places.clear();
            children(client, "/reactivelock/" + lock).forEach(name -> places.add(SequenceNode.of(name)));
            places.sort((a, b) -> a.isBefore(b) ? -1 : 1);
            places.forEach(place -> paths.add("/reactivelock/" + lock + "/" + place.name()));
        }
        return paths;
    }

    static void assertNoClaims(CuratorFramework client) {
        assertThat(claims(client)).isEmpty();
    }

    static void untilCaughtUp(CuratorFramework client) {
        get(AsyncCuratorFramework.wrap(client).sync().forPath("/").toCompletableFuture());
    }

    /** Ends a client's session at the server, as if it had been silent for too long. */
    static void expire(CuratorFramework client, String connectString) throws Exception {
        ZooKeeper handle = client.getZookeeperClient().getZooKeeper();
        CompletableFuture<Boolean> connected = new CompletableFuture<>();
        ZooKeeper twin = new ZooKeeper(
                connectString,
                10_000,
                event -> {
                    if (event.getState() == KeeperState.SyncConnected) {
                        connected.complete(true);
                    }
                },
                handle.getSessionId(),
                handle.getSessionPasswd());
        get(connected);
        twin.close();
    }

    /** How many watches the servers of this JVM keep for their clients. */
    static long watches() {
        try {
            MBeanServer beans = ManagementFactory.getPlatformMBeanServer();
            long all = 0;
            for (ObjectName tree : beans.queryNames(new ObjectName("org.apache.ZooKeeperService:*"), null)) {
                all += tree.toString().contains("InMemoryDataTree")
                        ? (Integer) beans.getAttribute(tree, "WatchCount")
                        : 0;
            }
            return all;
        } catch (JMException e) {
            throw new AssertionError(e);
        }
    }

    /** The nodes that a client watches for changes, as its ZooKeeper handle knows them. */
    static List<?> watched(CuratorFramework client) {
        return watched(client, "getDataWatches");
    }

    /** The nodes of which it watches the names below. */
    static List<?> watchedLines(CuratorFramework client) {
        return watched(client, "getChildWatches");
    }

    /** The nodes below which it watches everything. */
    static List<?> watchedBelow(CuratorFramework client) {
        return watched(client, "getPersistentRecursiveWatches");
    }

    private static List<?> watched(CuratorFramework client, String which) {
        try {
            Method watches = ZooKeeper.class.getDeclaredMethod(which);
            watches.setAccessible(true);
            return (List<?>) watches.invoke(client.getZookeeperClient().getZooKeeper());
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /** How many watchers were told of a deletion, by any server of this JVM. */
    static long deletionsTold() {
        return told("sum_node_deleted_watch_count");
    }

    /** How many watchers of a queue were told of a change. */
    static long changesOfLinesTold() {
        return told("sum_node_children_watch_count");
    }

    private static long told(String metric) {
        Map<String, Object> all = new HashMap<>();
        ServerMetrics.getMetrics().getMetricsProvider().dump(all::put);
        return ((Number) all.get(metric)).longValue();
    }

    static void delete(CuratorFramework client, String path) {
        try {
            client.delete().forPath(path);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
