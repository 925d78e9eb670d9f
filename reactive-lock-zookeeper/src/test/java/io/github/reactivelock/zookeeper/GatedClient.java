package io.github.reactivelock.zookeeper;

import java.io.IOException;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.state.ConnectionStateListener;
import org.apache.curator.retry.RetryOneTime;
import org.apache.zookeeper.AsyncCallback;
import org.apache.zookeeper.CreateMode;
import org.apache.zookeeper.Op;
import org.apache.zookeeper.Watcher;
import org.apache.zookeeper.ZooKeeper;
import org.apache.zookeeper.data.ACL;

/**
 * A client as the backend makes one for itself, whose questions are counted by their kind. While its gate is shut they
 * stay before it, as with a server that is silent; the one whether the connection is alive passes.
 */
final class GatedClient implements ClientSource {

    private final String servers;
    private final Map<String, AtomicInteger> asked = new ConcurrentHashMap<>();
    private final AtomicInteger looksUnanswered = new AtomicInteger();
    private final AtomicInteger mostLooksUnanswered = new AtomicInteger();
    private final Queue<Runnable> before = new ArrayDeque<>();
    private boolean isShut;
    private Runnable beforeDeletion = () -> {};

    GatedClient(String servers) {
        this.servers = servers;
    }

    @Override
    public CuratorFramework open(ConnectionStateListener listener) {
        CuratorFramework client = CuratorFrameworkFactory.builder()
                .connectString(servers)
                .sessionTimeoutMs(40_000)
                .connectionTimeoutMs(15_000)
                .retryPolicy(new RetryOneTime(100))
                .ensembleTracker(false)
                .zookeeperFactory((where, timeout, watcher, readOnly) -> new Gated(where, timeout, watcher))
                .build();
        client.getConnectionStateListenable().addListener(listener);
        client.start();
        return client;
    }

    @Override
    public String servers() {
        return servers;
    }

    @Override
    public boolean isOurs() {
        return true;
    }

    synchronized void shut() {
        isShut = true;
    }

    synchronized void open() {
        isShut = false;
        before.forEach(Runnable::run);
        before.clear();
    }

    /** What stays before the gate is never answered. */
    synchronized void lose() {
        isShut = false;
        before.clear();
    }

    /** What happens once, before a deletion is sent. */
    synchronized void beforeDeletion(Runnable step) {
        beforeDeletion = step;
    }

    private synchronized Runnable takeBeforeDeletion() {
        Runnable taken = beforeDeletion;
        beforeDeletion = () -> {};
        return taken;
    }

    /** How many questions of a kind Curator put, also those before the gate. */
    int asked(String kind) {
        return asked.getOrDefault(kind, new AtomicInteger()).get();
    }

    int asked() {
        return asked.values().stream().mapToInt(AtomicInteger::get).sum();
    }

    /** Of looks at the names of a queue, how many were unanswered at a time. */
    int mostLooksUnanswered() {
        return mostLooksUnanswered.get();
    }

    private synchronized void pass(String kind, Runnable question) {
        asked.computeIfAbsent(kind, absent -> new AtomicInteger()).incrementAndGet();
        if (isShut) {
            before.add(question);
        } else {
            question.run();
        }
    }

    @SuppressWarnings("try") // its close says that it may be interrupted
    private final class Gated extends ZooKeeper {

        Gated(String servers, int timeout, Watcher watcher) throws IOException {
            super(servers, timeout, watcher);
        }

        @Override
        public void create(
                String path,
                byte[] data,
                List<ACL> acl,
                CreateMode mode,
                AsyncCallback.Create2Callback answer,
                Object context,
                long ttl) {
            pass("create", () -> super.create(path, data, acl, mode, answer, context, ttl));
        }

        @Override
        public void delete(String path, int version, AsyncCallback.VoidCallback answer, Object context) {
            takeBeforeDeletion().run();
            pass("delete", () -> super.delete(path, version, answer, context));
        }

        @Override
        public void multi(Iterable<Op> ops, AsyncCallback.MultiCallback answer, Object context) {
            pass("write", () -> super.multi(ops, answer, context));
        }

        @Override
        public void exists(String path, Watcher watcher, AsyncCallback.StatCallback answer, Object context) {
            if (path.equals("/")) {
                super.exists(path, watcher, answer, context);
            } else {
                pass("exists", () -> super.exists(path, watcher, answer, context));
            }
        }

        @Override
        public void getData(String path, Watcher watcher, AsyncCallback.DataCallback answer, Object context) {
            pass("read", () -> super.getData(path, watcher, answer, context));
        }

        @Override
        public void getChildren(String path, Watcher watcher, AsyncCallback.Children2Callback answer, Object context) {
            int now = looksUnanswered.incrementAndGet();
            mostLooksUnanswered.accumulateAndGet(now, Math::max);
            pass(
                    "look",
                    () -> super.getChildren(
                            path,
                            watcher,
                            (code, there, ctx, found, stat) -> {
                                looksUnanswered.decrementAndGet();
                                answer.processResult(code, there, ctx, found, stat);
                            },
                            context));
        }
    }
}
