package io.github.reactivelock.faults;

import io.github.reactivelock.spi.LockBackend;
import io.github.reactivelock.testservers.Loopback;
import io.github.reactivelock.zookeeper.ZooKeeperBackendOptions;
import io.github.reactivelock.zookeeper.ZooKeeperLockBackend;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryNTimes;
import org.apache.zookeeper.KeeperException;

/** One ZooKeeper in a process of its own, and a Curator client for the operator. */
final class ZooKeeperStore extends Store {

    private static final String ROOT = "/reactivelock";
    private static final Duration START = Duration.ofMinutes(3);

    private final Path directory;
    private final int port = Loopback.freePort();
    private final CuratorFramework operator;
    private ClientProcess server;

    ZooKeeperStore() {
        try {
            directory = Files.createTempDirectory("reactive-lock-zookeeper-");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        server = prepared();
        serve();
        operator = CuratorFrameworkFactory.newClient("127.0.0.1:" + port, 10_000, 15_000, new RetryNTimes(20, 500));
        operator.start();
    }

    private ClientProcess prepared() {
        ClientProcess started =
                ClientProcess.start("zookeeper", ZooKeeperProcess.class, directory.toString(), Integer.toString(port));
        started.heard("is ready", START);
        return started;
    }

    private void serve() {
        server.say("serve");
        server.heard("serves", START);
    }

    void restart() {
        ClientProcess next = prepared();
        server.kill();
        server = next;
        serve();
    }

    void restartEmpty() {
        ClientProcess next = prepared();
        server.kill();
        empty();
        server = next;
        serve();
    }

    @Override
    List<Integer> ports() {
        return List.of(port);
    }

    @Override
    String address(List<Integer> ports) {
        return "zookeeper:127.0.0.1:" + ports.get(0);
    }

    /** Its client needs up to five seconds to leave a silent connection and to be back. */
    @Override
    LockBackend backend(Way way, Duration lease) {
        return backend(way.ports(), lease);
    }

    /** A hold is relied upon for half of a session. */
    @Override
    LockBackend backend(Duration lease) {
        return backend(ports(), lease);
    }

    private LockBackend backend(List<Integer> ports, Duration lease) {
        String servers = address(ports).substring("zookeeper:".length());
        return ZooKeeperLockBackend.connect(
                servers, ZooKeeperBackendOptions.defaults().withSessionTimeout(lease.multipliedBy(2)));
    }

    @Override
    void pause() {
        server.pause();
    }

    @Override
    void resume() {
        server.resume();
    }

    @Override
    void forget(String key) {
        String owner = children(ROOT + "/" + key).stream()
                .min(Comparator.comparing(name -> name.substring(name.lastIndexOf(':'))))
                .orElseThrow();
        try {
            operator.delete().forPath(ROOT + "/" + key + "/" + owner);
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    @Override
    List<String> claims() {
        return children(ROOT).stream()
                .flatMap(lock -> children(ROOT + "/" + lock).stream().map(claim -> lock + "/" + claim))
                .toList();
    }

    /** Its client waits for a second, and up to another one at random, before it connects to the only server again. */
    @Override
    Duration idleLimit() {
        return Duration.ofSeconds(4);
    }

    /** Its part of a lease is the session, and a tick. */
    @Override
    Duration expiry() {
        return Backends.SESSION.plusSeconds(1);
    }

    private List<String> children(String path) {
        try {
            return operator.getChildren().forPath(path);
        } catch (KeeperException.NoNodeException e) {
            return List.of();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    private void empty() {
        try (Stream<Path> files = Files.walk(directory)) {
            files.sorted(Comparator.reverseOrder())
                    .filter(path -> !path.equals(directory))
                    .forEach(path -> {
                        boolean unused = path.toFile().delete();
                    });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        super.close();
        operator.close();
        server.close();
        empty();
        Leftovers.delete(directory);
    }
}
